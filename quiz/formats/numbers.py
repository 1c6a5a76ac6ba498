"""Exact numbers as decimal text."""

from decimal import Decimal, localcontext
from fractions import Fraction

# More than a double holds, so that a bound read as one is the bound.
DIGITS = 20


def plain(value: Fraction) -> str:
    """Return a number as decimal text without an exponent, to 20 digits: "0.5", "22.5"."""
    with localcontext(prec=DIGITS):
        text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
