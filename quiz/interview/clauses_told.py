"""The one clause of a line that is an answer, where no other has a figure that it could be."""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from quiz.interview.asides import Asked, is_of_part, names_part

Found = TypeVar("Found")

SPLIT = re.compile(
    r",\s+|;\s*|(?<=[\w)?])\.\s+|\?\s+|\s*\(|\)\s*|\s+[\u2013\u2014-]{1,2}\s+(?=[a-z])|"
    r"\s+(?=(?:because|since|as (?!is)|but|without|w/o|not|at (?:the )?(?:loss|peak|end|moment|"
    r"step|backward)|for (?:all|everything)|on each|in all|linear|so|exactly|"
    r"to be (?:precise|exact))\b)",
    re.IGNORECASE,
)
# A clause that says what the answer is not, what it was, or by how much it changes.
PASSED = re.compile(
    r"^(?:and\s+)?(?:not|was|were|instead|rather|w/o|without|excluding|usually|normally|typically|"
    r"before|no)\b|^\W*(?:double|twice|half|x\s?\d+|\d+\s?x|(?:two|three|four) times)\b",
    re.IGNORECASE,
)
CHANGES = re.compile(r"\b(?:another|extra|more|on top|plus)\b", re.IGNORECASE)
LEADING = re.compile(
    r"^(?:\s|,|(?:still|stays(?: at)?|remains|same|unchanged|again|here|now|sum|makes|is|at|it's|"
    r"its|it is|that's|that is|roughly|needs|with|peak|around|takes|of|by|i think|then|and|"
    r"the)\b)+",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"\s*\b(?:to be (?:precise|exact)|exactly|i think|i guess|then|again|still|in all|in total)"
    r"[\s.!]*$",
    re.IGNORECASE,
)
# What stays is no saving; a few words with the name of a part are its label.
STAYS = re.compile(r"\b(?:stays?|keeps?|kept|remains?|left|remaining)\b", re.IGNORECASE)
LABEL = 3
SIZED = re.compile(r"(?<![\w.])\d[\d.,]*\s*(?:[kmgt]i?b|bytes?|gigs?|s|ms|secs?)\b", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.*/^-])\d[\d.,]*(?![\w*/%^-])(?!\s*(?:x\b|%))")


def one_clause(line: str, reads: Callable[[str], Found | None], of: Asked) -> Found | None:
    """Return what the one clause that can be read is read as; None where others could be too.

    Args:
        line: as typed.
        reads: gives what a text is read as, None where it cannot be read.
        of: what is asked for.
    """
    clauses = [part.strip() for part in SPLIT.split(line) if part.strip()]
    found: list[tuple[int, Found]] = []
    for place, clause in enumerate(clauses):
        if PASSED.search(clause) or is_of_part(clause, of):
            continue
        read = next((one for text in _bare(clause) if (one := reads(text)) is not None), None)
        if read is not None:
            found.append((place, read))
    if len(found) != 1:
        return None
    (place, read), *_ = found
    others = [(at, one) for at, one in enumerate(clauses) if at != place]
    answer = clauses[place]
    if any(_competes(one, answer, of, is_before=at < place) for at, one in others):
        return None
    return read


def _bare(clause: str) -> Iterator[str]:
    for text in dict.fromkeys((clause, TRAILING.sub("", LEADING.sub("", clause)))):
        if re.search(r"\d", text):
            yield text.rstrip(" ?!.")


def _competes(clause: str, answer: str, of: Asked, *, is_before: bool) -> bool:
    """Say whether a clause has a figure that could be the answer too, or says of what it is."""
    if PASSED.search(clause):
        return False
    if is_of_part(clause, of):
        return not re.search(r"\d", clause)
    if SIZED.search(clause) or not re.search(r"\d", clause):
        return bool(SIZED.search(clause)) or (is_before and _is_label(clause, of))
    if not NUMBER.search(clause) or not is_before:
        return NUMBER.search(clause) is not None
    return not (CHANGES.search(clause) or (of.unit != "bytes" and SIZED.search(answer)))


def _is_label(clause: str, of: Asked) -> bool:
    """Say whether words before an answer say that it is another one's: "the logits, 13 GB"."""
    if of.key == "prediction" and STAYS.search(clause):
        return True
    return len(clause.split()) <= LABEL and names_part(clause, of)
