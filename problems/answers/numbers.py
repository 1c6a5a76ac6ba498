"""Numbers as a right answer says them, and as JSON holds them."""

from fractions import Fraction

from engine.units import GB, KB, MB, both
from problems.answers.answer import Unit

LEAST_GB = 0.1


def amount(value: Fraction, unit: Unit) -> str:
    """Return a number with its unit, plain numbers and few bytes to four digits."""
    if unit == "bytes" and abs(value) >= KB:
        return both(round(value))
    plain = f"{int(value):,}" if value.denominator == 1 else rounded(value, 4)
    return plain if unit == "1" else f"{plain} {unit}"


def in_gb(size: Fraction | int) -> str:
    """Return bytes in GB, in MB below 0.1 GB, to at least three digits."""
    amount, name = float(size) / GB, "GB"
    if abs(amount) < LEAST_GB:
        amount, name = float(size) / MB, "MB"
    digits = 3 if abs(amount) < 1 else 2 if abs(amount) < KB else 0
    return f"{amount:,.{digits}f} {name}"


def rounded(value: Fraction | float, digits: int) -> str:
    """Return a number of at least 0.001 to so many digits, its thousands set apart: 250,000."""
    short = f"{float(value):.{digits}g}"
    return f"{round(float(short)):,}" if abs(float(short)) >= 10**digits else short


def counted(number: int | Fraction, noun: str) -> str:
    """Return the plural `noun` as it stands behind `number`."""
    return noun.removesuffix("s") if number == 1 else noun


def exact(value: Fraction) -> int | str:
    """Return a whole number, or "n/d": `fractions.Fraction` reads both and no digit is lost."""
    return int(value) if value.denominator == 1 else str(value)
