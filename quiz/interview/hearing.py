"""Hearing what a candidate says: whether a point is made in a line of free text.

A point is known by phrases. Case, plurals and verb forms, hyphens, words run together and small
slips in long words make no difference. What is denied is not listed.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal

from problems.interview.script import Aspect
from quiz.claims.stems import stem
from quiz.claims.text import Token
from quiz.interview.clauses import Clause, clauses, typed_words
from quiz.interview.cues import (
    BEFORE_THINGS,
    DIVIDING,
    FILLERS,
    LEAVING_OUT,
    PARTS_OF_NAMES,
    PRESENCE,
    VERBS,
    WHOLE,
    stems_of,
)

Manner = Literal["named", "listed", "whole", "asked"]
"""How a point has to be made.

named: its words are there, whatever is said of them: "no recomputation" states a condition.
listed: its words are there and do not deny the thing.
whole: its clause says that the thing is left whole or out.
asked: the same, as the answer to that very question: the clause does not say the contrary.
"""

# A slip is looked for in words of this many letters, two slips in longer ones.
ONE_SLIP = 6
TWO_SLIPS = 9
# Words between the words of a phrase.
MOST_FILLERS = 2
# Words between "no" and what it denies: "no extra fp32 master copy".
REACH = 4


def manner(aspect: Aspect, *, asked: bool) -> Manner:
    """Return how a point of a question on `aspect` has to be made, there or earlier."""
    if aspect == "conditions":
        return "named"
    if aspect == "exclusions":
        return "asked" if asked else "whole"
    return "listed"


def heard(line: str, phrases: Sequence[str], how: Manner) -> str:
    """Return the words in which a point is made; "" where it is not.

    Args:
        line: as it was typed.
        phrases: what the point is known by.
        how: what else is asked for.
    """
    for clause in clauses(line):
        for first, last in _spans(clause.said, phrases):
            if _made(clause, first, last, how) and not _is_part(clause, first, last):
                return clause.words
    return ""


def _is_part(clause: Clause, first: int, last: int) -> bool:
    """Return whether the words at these places are but part of the name of another thing."""
    here = {token.stem for token in clause.said[first : last + 1]}
    return any(
        start <= first and last <= end
        for parts, name in PARTS_OF_NAMES
        if here <= {one[0] for one in stems_of(parts)}
        for start, end in _spans(clause.said, (name,))
    )


def _made(clause: Clause, first: int, last: int, how: Manner) -> bool:
    match how:
        case "named":
            return True
        case "listed":
            return not _denied(clause, first, last)
        case "whole":
            return _left_whole(clause, first, last)
        case "asked":
            return _left_whole(clause, first, last) or not _divided(clause, first, last)


def _denied(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause says that the thing at these places is not there."""
    if _denied_before(clause, first):
        return True
    if any(at in clause.negators for at in range(first)) or _behind(clause, last):
        present = any(not first <= at <= last for at in clause.places(PRESENCE))
        if present and not _leaves_out(clause) and not _denies_dividing(clause):
            return True
    return _leaves_out(clause)


def _behind(clause: Clause, last: int) -> bool:
    return any(at > last for at in clause.negators)


def _denies_dividing(clause: Clause) -> bool:
    sharding = "shard divide split partition slice reduce shrink fall replicate"
    return bool(clause.negators) and clause.has(sharding)


def _denied_before(clause: Clause, first: int) -> bool:
    """Return whether "no" or "without" stands before the thing and reaches it."""
    for at in clause.negators:
        word = clause.said[at].word
        between = [token.word for token in clause.said[at + 1 : first]]
        if at >= first or word not in BEFORE_THINGS:
            continue
        if word == "without" or (len(between) < REACH and "and" not in between):
            return not _has_division(clause, at, first)
    return False


def _has_division(clause: Clause, at: int, first: int) -> bool:
    """Return whether "no" denies that something is divided, not that it is there."""
    return any(at < place < first for place in clause.places(DIVIDING))


def _leaves_out(clause: Clause) -> bool:
    """Return whether a clause leaves out; "do not forget" does not."""
    places = tuple(clause.places(LEAVING_OUT))
    return any(not any(0 < at - no <= 2 for no in clause.negators) for at in places)


def _left_whole(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause says that the thing is not divided, not reached or left out."""
    outside = [at for at in clause.places(WHOLE) if not first <= at <= last]
    if any(not any(0 < at - no <= 3 for no in clause.negators) for at in outside):
        return True
    if _leaves_out(clause):
        return True
    denials = [at for at in clause.negators if clause.said[at].word not in BEFORE_THINGS]
    if outside:  # "not replicated"
        return False
    if any(not first <= at <= last for at in clause.places(DIVIDING)):
        return bool(clause.negators)
    return bool(denials) and (not clause.has(VERBS) or denials[-1] == len(clause.said) - 1)


def _divided(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause says of the thing at these places that it is divided or reached."""
    said = any(not first <= at <= last for at in clause.places(DIVIDING))
    return said or (bool(clause.negators) and clause.has(WHOLE))


def _spans(said: Sequence[Token], phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    for phrase in phrases:
        words = _words(phrase)
        for at in range(len(said)):
            end = _end(words, said, at)
            if words and end is not None:
                yield at, end - 1


@lru_cache(maxsize=4096)
def _words(phrase: str) -> tuple[str, ...]:
    return tuple(token.word for token in typed_words(phrase) if token.kind in {"word", "number"})


def _end(words: tuple[str, ...], said: Sequence[Token], at: int, fillers: int = 0) -> int | None:
    """Return the place behind a phrase that goes on at `at`; None where it does not.

    `fillers` is how many words may stand before its next one.
    """
    if not words:
        return at
    if at >= len(said):
        return None
    here = said[at].word
    for taken, wanted in ((1, words[0]), (2, "".join(words[:2]))):
        if taken <= len(words) and _same(here, wanted):
            return _end(words[taken:], said, at + 1, MOST_FILLERS)
    pair = "".join(token.word for token in islice(said, at, at + 2))
    if at + 1 < len(said) and stem(pair) == stem(words[0]):
        return _end(words[1:], said, at + 2, MOST_FILLERS)
    if fillers and (here in FILLERS or said[at].kind == "sign"):
        return _end(words, said, at + 1, fillers - 1)
    return None


@lru_cache(maxsize=65536)
def _same(typed: str, wanted: str) -> bool:
    """Return whether two words are forms of the same, but for slips where they are long."""
    one, other = stem(typed), stem(wanted)
    if one == other:
        return True
    shorter = min(len(one), len(other))
    if shorter < ONE_SLIP or one[0] != other[0] or not typed.isalpha():
        return False
    return slips(one, other) <= (1 if shorter < TWO_SLIPS else 2)


def slips(one: str, other: str) -> int:
    """Return how many letters are wrong, missing, too many or exchanged with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        following = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        before, row = row, following
    return row[-1]
