"""A typed step of a worked answer, and the rest of the line, which holds its right number."""

import re
from dataclasses import dataclass

from quiz.answers import Unreadable

WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
}  # fmt: skip
_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_PLACE = rf"\d{{1,4}}|{_WORD}"
# "step 3", "line no. 3", "#3"; "the third step", "the 3rd line".
_NAMED = (
    rf"(?:(?:steps?|lines?|#)\s*(?:no\.?|number|#)?\s*(?P<named>{_PLACE})(?:[snrt][tdh])?|"
    rf"(?:the\s+)?(?P<ordinal>{_PLACE})(?:[snrt][tdh])?\s+(?:step|line))(?!\w|\.\d)"
)
_BEFORE = r"\s*(?:(?:in|at|it|it's|is|the|first|wrong|mistake|error|i|think|say)\s+)*?"
NAMED = re.compile(_BEFORE + _NAMED)
TRAILING = re.compile(rf"[\s,;(]*(?:\b(?:in|at|for|on|as|is)\s+)?{_NAMED}[\s.!)]*$")
# A bare number is a step where nothing follows, or a sign that no number has inside, or a space
# and what begins a number or speaks of one.
BARE = re.compile(
    rf"\s*(?P<bare>\d{{1,4}}|{_WORD})(?:[snrt][tdh])?"
    r"(?=\s*$|\s*[,;:)\]=>\u2192\u2013\u2014-]|\.(?!\d)|\s+(?:[~\u2248(.]?\d|(?:and|or|&)\s+\d|(?:is|it|should|must|"
    r"wrong|right|correct|about|around|gives|the|has|was|not|because|instead)\b))"
)
# "3,500 MB" may be one number.
THOUSANDS = re.compile(r"\s*\d{1,3},\d{3}(?!\d)")
SEVERAL = re.compile(r"\s*(?:and|or|&|/|\+)\s*(?:step\s*)?\d+(?=\s*(?:$|[,;:)]))")
# What is said between the step and the number.
BETWEEN = re.compile(
    r"(?:[\s,;:)\]=>\u2192\u2013\u2014!?-]|\.(?!\d)|(?:is|are|was|it|this|that|which|wrong|first|"
    r"mistake|the|should|must|have|be|been|read|right|correct|value|answer|there|here|instead|and|"
    r"so|with|gives|because|has|really)(?![\w']))*"
)


@dataclass(frozen=True, kw_only=True)
class Repair:
    """The step typed, the rest of the line, and where in the line the rest begins."""

    step: int
    rest: str
    offset: int


def read_repair(typed: str, steps: int, example: str = "14 GB") -> Repair | Unreadable:
    """Split a line such as "3, 28 GB", "step 3: 28e9" or "28 GB in step 3".

    Args:
        typed: the line.
        steps: how many there are.
        example: a number as the question wants it, for the advice.

    Returns:
        `Unreadable` where no step is named, one that is not there, or more than one.
    """
    line = typed.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if len(line) != len(typed):  # a letter whose lower case is longer: leave the line alone
        line = typed
    leading, trailing = _found(line)
    if leading and leading.lastgroup == "bare" and THOUSANDS.match(line):
        advice = f"is this a step and a number? Put a space behind the comma: 2, {example}"
        return Unreadable(offset=leading.end(), reason=advice)
    if leading and (more := SEVERAL.match(line, leading.end())):
        return Unreadable(offset=more.start(), reason="name one step, the first that is wrong")
    named = {_place(match) for match in (leading, trailing) if match}
    if not named:
        advice = f"begin with the number of the step, then its right number: 2, {example}"
        return Unreadable(offset=0, reason=advice)
    if len(named) > 1 or named.isdisjoint(range(1, steps + 1)):
        reason = f"name one of the steps 1 to {steps}, then its right number: 2, {example}"
        return Unreadable(offset=0, reason=reason)
    start, end = leading.end() if leading else 0, trailing.start() if trailing else len(line)
    if leading and (between := BETWEEN.match(line, start, end)):
        start = between.end()
    return Repair(step=named.pop(), rest=typed[start:end], offset=start)


def _found(line: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return where a step is named, in front and behind: a bare number is none beside another."""
    leading = NAMED.match(line) or BARE.match(line)
    trailing = TRAILING.search(line, leading.end() if leading else 0)
    if leading and trailing and leading.lastgroup == "bare":
        begins_number = THOUSANDS.match(line) or _place(leading) != _place(trailing)
        return (None, trailing) if begins_number else (leading, trailing)
    return leading, trailing


def _place(match: re.Match[str]) -> int:
    said = match[match.lastgroup or 0]
    return WORDS.get(said) or int(said)
