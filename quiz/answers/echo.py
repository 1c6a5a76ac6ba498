"""A reading shown back, built from numbers alone, and refused text made safe to show."""

import unicodedata
from fractions import Fraction

from engine.units import BINARY, COUNTS, DECIMAL, KB
from quiz.answers.quantity import Quantity, Unreadable

WIDTH = 72
BEHIND = 12
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me", "Mc", "Zl", "Zp"}


def describe(quantity: Quantity) -> str:
    """Return a reading in one line: "about 16 GB = 16.0e9 bytes = 14.9 GiB".

    A range shows both ends. Nothing of the typed text is in it.
    """
    hedge = "about " if quantity.approximate else ""
    ends = (quantity.low, quantity.high)
    if quantity.unit == "s":
        return f"{hedge}{_between(*(f'{_digits(end)} s' for end in ends))}"
    if quantity.unit == "1":
        shown = _between(*(_number(end) for end in ends))
        counted = _scaled(quantity.value, COUNTS, "")
        same = counted == shown or quantity.low != quantity.high or quantity.value < KB
        return hedge + (shown if same else f"{shown} = {counted}")
    if quantity.high < KB:
        unit = "byte" if quantity.low == quantity.high == 1 else "bytes"
        return f"{hedge}{_between(*(_digits(end) for end in ends))} {unit}"
    return hedge + " = ".join((
        _between(*(_scaled(end, DECIMAL, " ") for end in ends)),
        _between(*(_bytes(end) for end in ends)) + " bytes",
        _between(*(_scaled(end, BINARY, " ", digits=3) for end in ends)),
    ))  # fmt: skip


def short(value: Fraction, wanted: str) -> str:
    """Return `value` in its largest unit: "2 GB", or "1.3B" where a plain number is wanted."""
    if wanted != "bytes":
        return _scaled(value, COUNTS, "")
    one = _step(value)
    few_digits = Fraction(f"{float(value / one):.4g}") * one
    if value.denominator == 1 and few_digits != value:
        return f"{value.numerator:,} bytes"
    return _scaled(value, DECIMAL, " ")


def caret(text: str, unreadable: Unreadable) -> str:
    """Return `text` in one safe line with a caret under the offset of `unreadable`.

    What cannot be seen or would move the cursor stands as "�"; a long text is cut around it.
    """
    start = max(0, unreadable.offset - WIDTH + BEHIND)
    cut = text[start : start + WIDTH]
    before = "…" if start else ""
    after = "…" if start + WIDTH < len(text) else ""
    line = before + "".join(_safe(c) for c in cut) + after
    place = len(before) + sum(_columns(c) for c in cut[: unreadable.offset - start])
    return f"{line}\n{' ' * place}^"


def _safe(character: str) -> str:
    if character in "\t\r\n" or unicodedata.category(character) == "Zs":
        return " "
    return "�" if unicodedata.category(character) in HIDDEN else character


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(_safe(character)) in {"W", "F"} else 1


def _between(low: str, high: str) -> str:
    if low == high:
        return low
    number, _, unit = high.partition(" ")
    same_unit = unit and low.endswith(f" {unit}")
    return f"{low.partition(' ')[0]} to {number} {unit}" if same_unit else f"{low} to {high}"


def _scaled(
    value: Fraction, steps: tuple[tuple[str, int], ...], gap: str, *, digits: int = 4
) -> str:
    for unit, one in steps:
        if value >= one:
            return f"{_digits(value / one, digits)}{gap}{unit}"
    unit = "" if not gap else "byte" if value == 1 else "bytes"
    return f"{_digits(value, digits)}{gap}{unit}"


def _step(value: Fraction) -> int:
    return next((one for _, one in DECIMAL if value >= one), 1)


def _digits(value: Fraction, digits: int = 4) -> str:
    """Return `value` with about `digits` digits and no zeros at the end."""
    if value >= 10**digits:
        return f"{round(value):,}"
    return f"{float(value):.{digits}g}"


def _number(value: Fraction) -> str:
    return f"{value.numerator:,}" if value.denominator == 1 else _digits(value)


def _bytes(value: Fraction) -> str:
    if value < KB:
        return _digits(value)
    power = 3 * ((len(str(int(value))) - 1) // 3)
    mantissa = f"{float(value / Fraction(10) ** power):.4g}"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{power}"
