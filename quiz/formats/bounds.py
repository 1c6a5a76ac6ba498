"""The ends of an interval as decimal text that a program reads as doubles."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

# Decimals of so many digits keep their order as doubles, so that none slips over a bound.
DIGITS = 15


def bounds(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return the ends of an interval, to 15 digits: what is between them is in the interval."""
    return _text(low, ROUND_CEILING), _text(high, ROUND_FLOOR)


def _text(value: Fraction, rounding: str) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext(prec=DIGITS, rounding=rounding):
        text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
