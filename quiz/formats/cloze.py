"""Numbers and picks as gaps of a Moodle question with several: {2:NUMERICAL:=25.3:0.5~...}.

What a gap may hold is read in question/type/multianswer/questiontype.php of Moodle: weights are
whole numbers, units there are none, and an answer and its feedback are HTML whose entities are
read once more, where `}` and `#` have a backslash.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from quiz.formats.markup import html
from quiz.formats.numbers import around
from quiz.formats.parts import NumberPart, Part, PickPart

# What ends an answer or begins a share or feedback, and how an entity begins.
MARKS = re.compile(r"[{}~=%:\\]")


def gaps(parts: Sequence[Part], points: Fraction) -> Iterator[str]:
    """Yield for each number or pick a paragraph with its label and gap, as HTML."""
    for part, weight in zip(parts, weights(parts, points), strict=True):
        if isinstance(part, NumberPart):
            gap = f"{{{weight}:NUMERICAL:{'~'.join(_numbers(part))}}} {html(part.unit)}".rstrip()
        elif isinstance(part, PickPart):
            gap = f"{{{weight}:MULTICHOICE:{'~'.join(_options(part))}}}"
        else:
            message = f"{type(part).__name__} has no gap"
            raise TypeError(message)
        yield f"<p>{html(part.label)}: {gap}</p>"


def weights(parts: Sequence[Part], points: Fraction) -> tuple[int, ...]:
    """Return the points of each part, or the least whole numbers in the same proportion."""
    exact = [part.weight * points for part in parts]
    if points and all(one.denominator == 1 for one in exact):
        return tuple(int(one) for one in exact)
    common = lcm(*(part.weight.denominator for part in parts))
    whole = [int(part.weight * common) for part in parts]
    return tuple(one // gcd(*whole) for one in whole)


def _numbers(part: NumberPart) -> Iterator[str]:
    for span in sorted((part.right, *part.spans), key=lambda span: -span.share):
        value, tolerance = around(span.low, span.high)
        yield f"{_share(span.share)}{value}:{tolerance}{_feedback(span.feedback)}"


def _options(part: PickPart) -> Iterator[str]:
    for one in part.options:
        yield f"{'=' * one.is_right}{_inside(one.text)}{_feedback(one.feedback)}"


def _share(share: Fraction) -> str:
    if share == 1:
        return "="
    return f"%{percent(share)}%" if share else ""


def percent(share: Fraction) -> str:
    """Return a share as Moodle writes it, to 5 digits behind the point: "33.33333"."""
    return f"{float(round(100 * share, 5)):.5f}".rstrip("0").rstrip(".")


def _feedback(text: str) -> str:
    return f"#{_inside(text)}" if text else ""


def _inside(text: str) -> str:
    """Return plain text as it stands in a gap."""
    told = MARKS.sub(lambda found: f"&#{ord(found[0])};", html(text))
    return told.replace("&", "&amp;").replace("#", r"\#")
