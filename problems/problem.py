"""A problem and its parts, as frozen values: what is asked, what is right, what goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from engine.scenario import Scenario
from problems.choice import ChoiceAnswer
from problems.mistakes import share_of
from problems.ranking import RankingAnswer

Level = Literal["junior", "mid", "senior"]
Band = Literal["count", "estimate"]

TOPICS: Mapping[str, str] = {
    "A": "model states",
    "B": "activations",
    "C": "everything else",
    "D": "the peak",
    "E": "levers",
    "G": "claims",
}


@dataclass(frozen=True, kw_only=True)
class QuantityAnswer:
    """A number of bytes or seconds, or a plain number where `unit` is "1".

    Args:
        value: the reference, exact.
        unit: "bytes", "s" or "1".
        default_unit: the unit that a bare number takes, as the prompt states; None for a count.
        band: how near is full credit: "count" 2%, "estimate" 15%.
        symbols: the problem's own symbols, which an answer may use.
    """

    value: Fraction
    unit: Literal["bytes", "s", "1"] = "bytes"
    default_unit: str | None = "GB"
    band: Band = "count"
    symbols: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CountAnswer:
    """A whole number of things: right or wrong.

    Args:
        noun: the things, as "GPUs"; "" where the number is none of things.
        before: what is said in front of such a number and may be typed there, as "ZeRO-".
    """

    value: int
    noun: str = ""
    before: str = ""


@dataclass(frozen=True, kw_only=True)
class FactorAnswer:
    """How many times larger (or smaller, below 1) something becomes."""

    value: Fraction


@dataclass(frozen=True, kw_only=True)
class YesNoAnswer:
    """Yes or no, and the number that proves it."""

    value: bool
    proof: QuantityAnswer


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The numbers of a run that a reason may name.

    Args:
        each: bytes of model states per parameter, whole.
        shared: the same on one GPU, which is `each` where nothing is shared.
        parts: bytes per parameter of each of the states.
        sizes: bytes of what its ledger has: lines, sums, the card.
        named: bytes that a word may stand for: "logit", "activation", "peak".
    """

    each: Fraction
    shared: Fraction
    parts: tuple[int, ...]
    sizes: tuple[int, ...]
    named: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClaimAnswer:
    """True or false, and why, in the learner's own words.

    Args:
        claim: the id of a claim of `problems.claims`.
        truth: whether it is true.
        core: what a full answer says.
        run: the numbers of the run that the claim was put about; None where it was put alone.
    """

    claim: str
    truth: bool
    core: str
    run: RunFacts | None = None


Answer = (
    QuantityAnswer
    | CountAnswer
    | FactorAnswer
    | YesNoAnswer
    | RankingAnswer
    | ChoiceAnswer
    | ClaimAnswer
)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A wrong number that one named change of the ledger would give.

    Args:
        name: short and unique in its problem, such as "master copy forgotten".
        value: what the mistake yields, in the unit of the answer.
        feedback: one or two sentences: what was left out or taken twice, with its size.
        moves: the terms of the sum that it changes, where their difference adds up with that of
            a mistake in other terms; empty where it does not.
        also: names of other mistakes that yield as good as the same.
    """

    name: str
    value: Fraction
    feedback: str
    moves: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()

    @property
    def share(self) -> Fraction:
        """What such an answer earns of the credit, from 0 to below 1; of several, the least."""
        return min(map(share_of, (self.name, *self.also)))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One line of the worked solution. `depth` is "whiteboard" or "exact"."""

    text: str
    depth: Literal["whiteboard", "exact"] = "exact"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question with everything that marking and explaining it takes.

    Args:
        kind: name of the kind; with `seed` it gives the same problem everywhere.
        scenario: what the question is about; None where only an architecture or a recipe is.
        prompt: the question, plain text, every assumption stated.
        hints: given one at a time, from a nudge to nearly the answer.
        solution: whiteboard steps first, then the exact ones.
    """

    kind: str
    topic: str
    level: Level
    seed: int
    prompt: str
    answer: Answer
    hints: tuple[str, ...]
    solution: tuple[Step, ...]
    mistakes: tuple[Mistake, ...]
    scenario: Scenario | None = None

    @property
    def id(self) -> str:
        """`kind@seed`."""
        return f"{self.kind}@{self.seed}"
