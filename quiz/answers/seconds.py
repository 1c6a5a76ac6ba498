"""Reads a typed time: a plain number, a range or a sum, with a unit of time behind it or none."""

import re
from dataclasses import replace
from fractions import Fraction

from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, Unreadable

MILLI, MICRO = Fraction(1, 10**3), Fraction(1, 10**6)
MINUTE = Fraction(60)
UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), MILLI),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), MICRO),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), MINUTE),
}
SPELLED = "|".join(sorted(UNITS, key=len, reverse=True))
TIMED = re.compile(
    rf"(?P<number>.*?)[ \t]*(?<![^\W\d_])(?P<unit>{SPELLED})"
    r"[\s.]*",
    re.IGNORECASE | re.DOTALL,
)


def read_seconds(text: str) -> Quantity | Unreadable:
    """Read "0.4 s", "400 ms", "about 2-3 s" or "3.2/8 s"; a bare number is in seconds.

    Returns:
        Seconds, in the unit "s", or the place and reason of a refusal.
    """
    found = TIMED.fullmatch(text)
    number, unit = (found["number"], found["unit"].lower()) if found else (text, "s")
    plain = parse_quantity(number, asks="seconds")
    if isinstance(plain, Unreadable):
        return plain
    factor = UNITS[unit]
    return replace(
        plain,
        value=factor * plain.value,
        low=factor * plain.low,
        high=factor * plain.high,
        alternatives=tuple(factor * value for value in plain.alternatives),
        unit="s",
    )
