"""Hearing what a candidate says: whether a point is made in a line of free text.

A point is known by phrases. Case, plurals and verb forms, hyphens, words run together and small
slips in long words make no difference. What is denied is not listed.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal

from problems.interview.script import Aspect
from quiz.claims.stems import stem
from quiz.claims.text import Token
from quiz.interview.clauses import Clause, clauses, typed_words
from quiz.interview.cues import FILLERS, stems_of
from quiz.interview.denials import (
    denied,
    divided,
    is_nowhere,
    left_whole,
    turns_nothing,
    unasked,
    unknown,
)
from quiz.interview.longer_names import PARTS_OF_NAMES

Manner = Literal["named", "listed", "turning", "whole", "asked", "beside"]
"""How a point has to be made.

named: its words are there, whatever is said of them: "no recomputation" states a condition.
listed: its words are there and do not deny the thing.
turning: its words are there and do not say that nothing comes of it.
whole: its clause says that the thing is left whole or out.
asked: the same, as the answer to that very question: the clause does not say the contrary.
beside: as what a sum leaves out: its clause does not say that it is in it, or that there is none.
"""
Sense = Literal["made", "denied", "nothing"]
"""What a clause says of a point; nothing: it does not speak of it."""
# Questions whose points are made otherwise than those of their aspect.
MANNERS: Mapping[str, Manner] = {"overturns": "turning", "beyond-allocated": "beside"}

# A slip is looked for in words of this many letters, two slips in longer ones.
ONE_SLIP = 6
TWO_SLIPS = 9
# Words between the words of a phrase.
MOST_FILLERS = 2


def manner(aspect: Aspect, *, asked: bool, key: str = "") -> Manner:
    """Return how a point of a question on `aspect` has to be made, there or earlier.

    Args:
        aspect: what an answer to the question is marked for.
        asked: whether it is made there.
        key: of the question, some of which have a manner of their own.
    """
    if asked and key in MANNERS:
        return MANNERS[key]
    if aspect == "conditions":
        return "named"
    if aspect == "exclusions":
        return "asked" if asked else "whole"
    return "listed"


def heard(line: str, phrases: Sequence[str], how: Manner, contraries: Sequence[str] = ()) -> str:
    """Return the words in which a point is made; "" where it is not.

    Args:
        line: as it was typed.
        phrases: what the point is known by.
        how: what else is asked for.
        contraries: what its clause must not say besides.
    """
    for clause in clauses(line):
        if sense(clause, phrases, how, contraries) == "made":
            return clause.words
    return ""


def sense(
    clause: Clause, phrases: Sequence[str], how: Manner, contraries: Sequence[str] = ()
) -> Sense:
    """Return what a clause says of a point.

    Args:
        clause: of what was typed.
        phrases: what the point is known by.
        how: it has to be made.
        contraries: what its clause must not say besides.
    """
    found = tuple(one for one in spans(clause.said, phrases) if not _is_part(clause, *one))
    if not found:
        return "nothing"
    if not clause.negators and any(True for _ in spans(clause.said, contraries)):
        return "denied"
    return "made" if any(_made(clause, first, last, how) for first, last in found) else "denied"


def _is_part(clause: Clause, first: int, last: int) -> bool:
    """Return whether the words at these places are but part of the name of another thing."""
    here = {token.stem for token in clause.said[first : last + 1]}
    return any(
        start <= first and last <= end
        for parts, name in PARTS_OF_NAMES
        if here <= {one[0] for one in stems_of(parts)}
        for start, end in spans(clause.said, (name,))
    )


def _made(clause: Clause, first: int, last: int, how: Manner) -> bool:
    match how:
        case "named":
            return not unasked(clause)
        case "listed":
            return not denied(clause, first, last)
        case "turning":
            return not turns_nothing(clause, first)
        case "whole":
            return left_whole(clause, first, last) and not unknown(clause)
        case "asked":
            whole = left_whole(clause, first, last) or not divided(clause, range(first, last + 1))
            return whole and not unknown(clause)
        case "beside":
            return not is_nowhere(clause, first, last)


def spans(said: Sequence[Token], phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last places of phrases among what was said."""
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
