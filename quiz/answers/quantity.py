"""What a typed answer is read as: a quantity, or where and why it cannot be read."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number as it was understood.

    Args:
        value: bytes or seconds, or a plain number where `unit` is "1"; the midpoint of a range.
        low: lower end of the range, `value` where none was typed.
        high: upper end of the range, `value` where none was typed.
        approximate: the answer was hedged ("about", "~", "or so").
        remarks: short sentences on how it was read, to be shown beside the echo.
        alternatives: values of the other readings that matter, in the same unit.
        unit: "bytes", "s" or "1".
    """

    value: Fraction
    low: Fraction
    high: Fraction
    approximate: bool = False
    remarks: tuple[str, ...] = ()
    alternatives: tuple[Fraction, ...] = ()
    unit: Literal["bytes", "s", "1"] = "bytes"


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """Text that gives no one number.

    Args:
        offset: index into the text as typed where reading stopped, 0 to its length.
        reason: one sentence on what to type instead. Holds nothing of the text itself.
    """

    offset: int
    reason: str


class RefusalError(Exception):
    """Carries an `Unreadable` out of the depth of the grammar; never leaves this package."""

    def __init__(self, offset: int, reason: str) -> None:
        self.unreadable = Unreadable(offset=offset, reason=reason)
