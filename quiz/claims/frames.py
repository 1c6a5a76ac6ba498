"""Frames: which concepts, said together and affirmed or denied, make up a statement.

A frame is written as words: "shard activation" is that activations are sharded, "not shard
activation" that they are not, "any ..." either. "a|b" is one or the other, "!a" is that it is not
named, "=word" is a word as it stands in any of its forms. A frame holds within a clause and what
the clause takes up; "sentence ..." within a sentence, "answer ..." anywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from typing import Literal

from quiz.claims.clauses import Clause, Negation
from quiz.claims.lexicon import Mention
from quiz.claims.stems import stem

Reach = Literal["clause", "sentence", "answer"]
REACHES: tuple[Reach, ...] = ("clause", "sentence", "answer")
# Ways to choose one mention for each concept, when some are named often.
MOST_WAYS = 64
FEWEST_CONCEPTS = 2


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A statement as concepts.

    Args:
        wanted: for each concept, the names that will do.
        absent: concepts that must not be named.
        denied: True, False, or None where either will do.
        reach: how far apart they may stand.
    """

    wanted: tuple[frozenset[str], ...]
    absent: frozenset[str]
    denied: bool | None
    reach: Reach

    @property
    def concepts(self) -> frozenset[str]:
        """Every concept that it names."""
        return self.absent.union(*self.wanted)


@cache
def frame(written: str) -> Frame:
    """Read a frame.

    Raises:
        ValueError: it names no concept.
    """
    denied: bool | None = False
    reach: Reach = "clause"
    wanted: list[frozenset[str]] = []
    absent: set[str] = set()
    for word in written.split():
        if word == "not":
            denied = True
        elif word == "any":
            denied = None
        elif word in REACHES:
            reach = next(each for each in REACHES if each == word)
        elif word.startswith("!"):
            absent |= {_atom(name) for name in word[1:].split("|")}
        else:
            wanted.append(frozenset(map(_atom, word.split("|"))))
    if not wanted:
        raise ValueError(f"the frame {written!r} names no concept")
    return Frame(wanted=tuple(wanted), absent=frozenset(absent), denied=denied, reach=reach)


def _atom(name: str) -> str:
    return f"={stem(name[1:])}" if name.startswith("=") else name


def heard(
    written: str, said: Sequence[Clause], topic: frozenset[str] = frozenset()
) -> Iterator[tuple[Mention, ...]]:
    """Yield the mentions that make up the statement, once for each place where it is made.

    Args:
        written: the frame.
        said: the clauses that count.
        topic: concepts that the claim speaks of, which "it" and "they" may mean.
    """
    wanted = frame(written)
    for group in _groups(wanted.reach, said):
        yield from islice(_in_group(wanted, group, topic), 1)


def heard_anywhere(written: str, said: Sequence[Clause]) -> tuple[Mention, ...]:
    """Return the mentions by which the concepts of a frame are named, far apart or not.

    Denials do not count. A single concept is no statement.
    """
    wanted = replace(frame(written), reach="answer", denied=None)
    if len(wanted.wanted) < FEWEST_CONCEPTS:
        return ()
    return next(_in_group(wanted, tuple(said), frozenset()), ())


def _groups(reach: Reach, said: Sequence[Clause]) -> Iterator[tuple[Clause, ...]]:
    match reach:
        case "clause":
            yield from ((clause,) for clause in said)
        case "sentence":
            for sentence in sorted({clause.sentence for clause in said}):
                yield tuple(clause for clause in said if clause.sentence == sentence)
        case "answer":
            yield tuple(said)


def _in_group(
    wanted: Frame, group: Sequence[Clause], topic: frozenset[str]
) -> Iterator[tuple[Mention, ...]]:
    own = [m for clause in group for m in (*clause.mentions, *_literals(wanted, clause))]
    taken = [m for clause in group for m in clause.spoken_of]
    if any(m.concept in wanted.absent for m in (*own, *taken)):
        return
    open_to_topic = not any(m.sort == "things" for m in (*own, *taken))
    choices: list[list[Mention | None]] = []
    for names in wanted.wanted:
        found: list[Mention | None] = [m for m in own if m.concept in names]
        if not found and (
            any(m.concept in names for m in taken) or (open_to_topic and names & topic)
        ):
            found = [None]
        choices.append(found)
    negations = [n for clause in group for n in clause.negations]
    for chosen in islice(product(*choices), MOST_WAYS):
        matched = [m for m in chosen if m is not None]
        distinct = len({(m.first, m.last) for m in matched}) == len(matched)
        if matched and distinct and _fits(wanted, matched, negations):
            yield tuple(matched)


def _literals(wanted: Frame, clause: Clause) -> Iterator[Mention]:
    """Yield the words that the frame names as such, where they stand in the clause."""
    named = {name for name in wanted.concepts if name.startswith("=")}
    for place, spoken in enumerate(clause.stems if named else (), clause.first):
        if f"={spoken}" in named:
            yield Mention(concept=f"={spoken}", sort="marks", first=place, last=place)


def _fits(wanted: Frame, matched: Sequence[Mention], negations: Sequence[Negation]) -> bool:
    if wanted.denied is None:
        return True
    times = 0
    for negation in negations:
        within = any(m.first <= negation.at <= m.last for m in matched)
        covers = any(negation.first <= m.first <= negation.last for m in matched)
        times += covers and not within
    return bool(times % 2) == wanted.denied
