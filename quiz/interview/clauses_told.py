"""The one clause of a line that is an answer, where no other has a figure that it could be."""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from quiz.interview.asides import Asked, is_of_part, names_part
from quiz.marking.verdict import Verdict

SPLIT = re.compile(
    r",\s+|;\s*|:\s+|(?<=[\w)?])\.\s+|\?\s+|\s*\(|\)\s*|\s+[\u2013\u2014-]{1,2}\s+(?=[a-z])|"
    r"\s+(?=(?:because|since|as (?!is)|but|without|w/o|not|at (?:the )?(?:loss|peak|end|moment|"
    r"step|backward)|for (?:all|everything)|on each|in all|linear|so|exactly|"
    r"to be (?:precise|exact))\b)",
    re.IGNORECASE,
)
# A clause that says what the answer is not, what it was, or by how much it changes.
PASSED = re.compile(
    r"^(?:and\s+)?(?:not|was|were|instead|rather|w/o|without|excluding|usually|normally|typically|"
    r"before|no(?!,?\s+\d))\b|"
    r"^\W*(?:double|twice|half|x\s?\d+|\d+\s?x|(?:two|three|four) times)\b",
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

SUMMAND = re.compile(
    r"(?:[a-z]+\s+){0,3}(?P<figure>\d+(?:\.\d+)?(?:\s*(?:[kmgt]i?b|bytes?))?)"
    r"(?:\s*(?:of |for |the )*[a-z]+){0,2}",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d[\d.,]*")
TERM = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def one_clause(line: str, reads: Callable[[str], Verdict | None], of: Asked) -> Verdict | None:
    """Return what the one clause that can be read is read as; None where others could be too.

    Args:
        line: as typed.
        reads: gives what a text is read as, None where it cannot be read.
        of: what is asked for.
    """
    clauses = [part.strip() for part in SPLIT.split(line) if part.strip()]
    found: list[tuple[int, Verdict]] = []
    for place, clause in enumerate(clauses):
        if PASSED.search(clause) or is_of_part(clause, of):
            continue
        read = next((one for text in _bare(clause) if (one := reads(text)) is not None), None)
        if read is not None:
            found.append((place, read))
    if len({one.parsed for _, one in found if isinstance(one.parsed, Fraction)}) != 1 < len(found):
        return None
    if not found:
        return None
    (place, read), *rest = found
    same = {place, *(at for at, _ in rest)}
    others = [(at, one) for at, one in enumerate(clauses) if at not in same]
    answer = clauses[place]
    if _adds_up(answer, [one for _, one in others]):
        return read
    if any(_competes(one, answer, of, is_before=at < place) for at, one in others):
        return None
    return read


def sum_told(line: str) -> str | None:
    """Return the terms of a sum without their names: "4 + 8" of "4 weights + 8 adam"."""
    terms = [SUMMAND.fullmatch(one.strip(" .")) for one in line.split("+")]
    found = [one["figure"] for one in terms if one is not None]
    return " + ".join(found) if 1 < len(found) == len(terms) else None


def _adds_up(answer: str, others: list[str]) -> bool:
    """Say whether the figures beside an answer are its terms: "16 bytes (4 w, 4 g, 8 adam)"."""
    whole = [Fraction(one.rstrip(".,").replace(",", "")) for one in DIGITS.findall(answer)]
    terms = [Fraction(one) for other in others for one in TERM.findall(other)]
    return len(whole) == 1 and len(terms) > 1 and sum(terms) == whole[0]


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
    return not (CHANGES.search(clause) or (of.unit != "B" and SIZED.search(answer)))


def _is_label(clause: str, of: Asked) -> bool:
    """Say whether words before an answer say that it is another one's: "the logits, 13 GB"."""
    if of.key == "prediction" and STAYS.search(clause):
        return True
    return len(clause.split()) <= LABEL and names_part(clause, of)
