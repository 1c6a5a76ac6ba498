"""An answer as it was read: its words, its clauses and the verdicts that it states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise

from problems.claims import Claim
from quiz.claims.clauses import Clause, clauses
from quiz.claims.lexicon import SKIPPED, lexicon
from quiz.claims.salad import is_salad
from quiz.claims.speech import speech
from quiz.claims.text import Token, tokens
from quiz.claims.verdicts import Stated, stated

# The share of words that a sentence has in common with the claim which it repeats.
ALIKE = 0.8
# Behind a number they make it a size, which is about nothing.
UNITS = frozenset({"b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "byte", "bytes"})
# Of a sum that says something by itself: "RS + AG = AR", "1 + 2 becomes 4/3".
FEWEST_TERMS = 3


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What stands in an answer, before anybody judges it.

    Args:
        typed: its tokens.
        said: its clauses, none where it asserts nothing; a repeated claim is a quotation.
        stated: the verdicts in so many words, in order; who repeats the claim and says no more
            about it calls it true.
    """

    typed: Sequence[Token]
    said: Sequence[Clause]
    stated: Sequence[Stated]


def read(asked: Claim, answer: str) -> Reading:
    """Read an answer to a claim.

    Without a verdict a row of keywords, and what names nothing of the field, asserts nothing.

    Raises:
        RefusalError: it is too long, or has a character that cannot be seen.
    """
    typed, words = tokens(answer), lexicon()
    said = tuple(_with_quotations(asked, typed, clauses(typed, words.mentions(typed), words)))
    verdicts = stated(typed, said, negative=asked.negative) if said else ()
    again = [clause for clause in said if clause.quoted and not typed[clause.first].quoted]
    if again and not verdicts:
        first, last = again[0].first, again[-1].last
        verdicts = (Stated(value=True, hedged=False, first=first, last=last),)
    speaks = _names_something(typed, said) and not is_salad(typed, words)
    return Reading(typed=typed, said=said if verdicts or speaks else (), stated=verdicts)


def _names_something(typed: Sequence[Token], said: Sequence[Clause]) -> bool:
    """Return whether a word of the field stands there, or a sum; a size alone tells nothing."""
    plain = UNITS | speech().words["function"]
    named = any(
        token.kind == "word" and token.word not in plain
        for clause in said
        for mention in clause.mentions
        for token in typed[mention.first : mention.last + 1]
    )
    sizes = any(number.kind == "number" and unit.word in UNITS for number, unit in pairwise(typed))
    terms = sum(token.kind in {"word", "number"} and token.word not in plain for token in typed)
    mentioned = any(clause.mentions for clause in said)
    return named or (mentioned and not sizes and terms >= FEWEST_TERMS)


def _with_quotations(
    asked: Claim, typed: Sequence[Token], said: Sequence[Clause]
) -> Iterator[Clause]:
    """Yield the clauses; those of a sentence that repeats the claim are quotations."""
    claimed, denies = _claimed(asked.claim), speech().words["negators"]
    for _, part in groupby(said, key=lambda clause: clause.sentence):
        sentence = list(part)
        words = _words(typed[sentence[0].first : sentence[-1].last + 1])
        alike = len(words & claimed) >= ALIKE * len(words | claimed)
        if alike and words & denies == claimed & denies:
            yield from (replace(clause, quoted=True) for clause in sentence)
        else:
            yield from sentence


@cache
def _claimed(sentence: str) -> frozenset[str]:
    return _words(tokens(sentence))


def _words(typed: Sequence[Token]) -> frozenset[str]:
    """Return what of a sentence tells it from others."""
    return frozenset(
        token.word
        for token in typed
        if token.kind in {"word", "number"} and token.word not in SKIPPED
    )
