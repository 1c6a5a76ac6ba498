"""Numbers typed behind options: read, or the fault that says what is wanted."""

import re

from engine.errors import Fault
from engine.fields import show

WHOLE = re.compile(r"[+-]?\d+(_\d+)*", re.ASCII)
# More is refused by every option; Python itself stops at some thousand digits.
LONGEST = 18


def whole(option: str, typed: str) -> int | Fault:
    """Return the whole number typed behind `option`, or what is wrong with it."""
    typed = typed.strip()
    if not WHOLE.fullmatch(typed):
        return Fault(option, f"{show(typed)} is not a whole number", "write digits, such as 8")
    if len(typed) > LONGEST:
        return Fault(option, f"a number of {len(typed):,} digits is too large")
    return int(typed)


def real(option: str, typed: str) -> float | Fault:
    """Return the number typed behind `option`, or what is wrong with it."""
    try:
        return float(typed)
    except ValueError:
        return Fault(option, f"{show(typed)} is not a number", "write one such as 0.1")
