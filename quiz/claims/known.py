"""Sentences of an answer that say, nearly word for word, what a claim's own sentences say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from problems.claims import Claim
from quiz.claims.clauses import Clause
from quiz.claims.lexicon import SKIPPED
from quiz.claims.speech import speech
from quiz.claims.splitting import verdict_words
from quiz.claims.text import Token, tokens

# The share of words that two sentences must have in common.
ALIKE = 0.8
# Below this every sentence is like another.
FEWEST_WORDS = 3

Of = Literal["claim", "core", "point", "error"]


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """A sentence of the answer and the sentence that it repeats.

    Args:
        of: what it is of the claim.
        name: the id of the point or of the false statement; "" for the claim and the core.
        first: index of its first token.
        last: index of its last one.
    """

    of: Of
    name: str
    first: int
    last: int


def repeated(claim: Claim, typed: Sequence[Token], said: Sequence[Clause]) -> Iterator[Repeated]:
    """Yield each sentence that repeats one of the claim's own."""
    for number in sorted({clause.sentence for clause in said}):
        within = [clause for clause in said if clause.sentence == number]
        first, last = within[0].first, within[-1].last
        found = _nearest(claim, _words(typed[first : last + 1]))
        if found:
            yield Repeated(of=found[0], name=found[1], first=first, last=last)


def _nearest(claim: Claim, words: frozenset[str]) -> tuple[Of, str] | None:
    if len(words) < FEWEST_WORDS:
        return None
    alike = [
        (len(words & known) / len(words | known), of, name)
        for of, name, known in _sentences(claim.id, claim)
    ]
    share, of, name = max(alike, key=lambda row: row[0])
    return (of, name) if share >= ALIKE else None


@cache
def _sentences(_: str, claim: Claim) -> tuple[tuple[Of, str, frozenset[str]], ...]:
    rows: list[tuple[Of, str, str]] = [("claim", "", claim.claim), ("core", "", claim.core)]
    rows += [("point", point.id, point.says) for point in claim.points]
    rows += [("error", error.id, error.says) for error in claim.errors]
    return tuple((of, name, _words(tokens(says))) for of, name, says in rows)


def _words(typed: Sequence[Token]) -> frozenset[str]:
    """Return what of a sentence tells it from others; who denies has other words."""
    passed = verdict_words() - (speech().words["negators"] - {"no"})
    return frozenset(
        token.stem
        for token in typed
        if token.kind in {"word", "number"}
        and token.word not in SKIPPED
        and token.word not in passed
    )
