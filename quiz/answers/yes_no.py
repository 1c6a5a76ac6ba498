"""A typed yes or no and the rest of the line, which holds the number that proves it."""

import re
from dataclasses import dataclass

from quiz.answers import Unreadable

YES = (
    r"yes|yep|yeah|yup|y|true|(?:it|that|this)? ?(?:does|will|would|should) fit|"
    r"(?:it|that|this)? ?fits?|it does|it will|it would"
)
NO = (
    r"(?:it|that|this)? ?(?:does|will|would|can) ?not fit|"
    r"(?:it|that|this)? ?(?:doesn'?t|won'?t|wouldn'?t|can'?t) fit|not fit|"
    r"it (?:doesn'?t|won'?t|does not|will not)(?! (?:cuda )?oom)|nope|nah|"
    r"no(?! (?:cuda )?(?:oom|problem|issue))|n|false|(?:cuda )?oom|out of memory"
)
BOUND = r"(?![\w'])"
# A dot or hyphen before a digit belongs to the number.
BETWEEN = r"[\s,:;!\u2013\u2014]|[.-](?![\d.])"
LEADING = re.compile(rf"\s*(?:(?P<no>{NO})|(?P<yes>{YES})){BOUND}(?:{BETWEEN}|because|since)*")
TRAILING = re.compile(
    rf"(?:{BETWEEN}|and|so|which)+(?:(?P<no>{NO})|(?P<yes>{YES})){BOUND}[\s.!]*$"
)

NO_NUMBER = {
    "", "-", "--", "n", "no", "nope", "nah", "none", "no number", "nothing", "no idea", "not sure",
    "unsure", "unknown", "idk", "dunno", "don't know", "dont know", "i don't know", "i dont know",
    "n/a", "na",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class YesNo:
    """The verdict typed, the rest of the line, and where in the line the rest begins."""

    yes: bool
    rest: str
    offset: int


def read_yes_no(typed: str, example: str = "61 GB") -> YesNo | Unreadable:
    """Split a line such as "no: 93 GiB" or "61 GB, fits"; no verdict is `Unreadable`.

    Args:
        typed: the line.
        example: a number as the question wants it, for the advice.
    """
    line = _lower(typed)
    if len(line) != len(typed):  # a letter whose lower case is longer: leave the line alone
        line = typed
    start, end = 0, len(line)
    said: list[bool] = []
    while match := LEADING.match(line, start):
        said.append(match["yes"] is not None)
        start = match.end()
    while match := TRAILING.search(line, start, end):
        said.append(match["yes"] is not None)
        end = match.start()
    if not said:
        what = f"begin with yes or no, then the number: yes, {example}"
        return Unreadable(offset=0, reason=what)
    if len(set(said)) > 1:
        return Unreadable(offset=0, reason="this says both yes and no; type one of them")
    return YesNo(yes=said[0], rest=typed[start:end], offset=start)


def leaves_out(typed: str) -> bool:
    """Return whether a line that should hold the number says that there is none."""
    return _lower(typed).strip(" \t.!,;") in NO_NUMBER


def _lower(typed: str) -> str:
    return typed.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
