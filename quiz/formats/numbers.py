"""Exact numbers as decimal text."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

# More than a double holds, so that a bound read as one is the bound.
DIGITS = 20


def plain(value: Fraction) -> str:
    """Return a number as decimal text without an exponent, to 20 digits: "0.5", "22.5"."""
    return _text(value, ROUND_HALF_EVEN)


def around(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return two bounds as a middle and the distance from it, which stay within the bounds."""
    middle = plain((low + high) / 2)
    distance = min(high - Fraction(middle), Fraction(middle) - low)
    return middle, _text(max(distance, Fraction(0)), ROUND_DOWN)


def _text(value: Fraction, rounding: str) -> str:
    with localcontext(prec=DIGITS, rounding=rounding):
        text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
