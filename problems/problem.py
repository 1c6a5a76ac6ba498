"""A problem and its parts, as frozen values: what is asked, what is right, what goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from engine.scenario import Scenario
from problems.ranking import RankingAnswer

Level = Literal["junior", "mid", "senior"]
Band = Literal["count", "estimate"]

TOPICS: Mapping[str, str] = {
    "A": "model states",
    "B": "activations",
    "C": "everything else",
    "D": "the peak",
    "E": "levers",
}


@dataclass(frozen=True, kw_only=True)
class QuantityAnswer:
    """A number of bytes, or a plain number where `unit` is "1".

    Args:
        value: the reference, exact.
        unit: "bytes" or "1".
        default_unit: the unit that a bare number takes, as the prompt states; None for a count.
        band: how near is full credit: "count" 2%, "estimate" 15%.
        symbols: the problem's own symbols, which an answer may use.
    """

    value: Fraction
    unit: Literal["bytes", "1"] = "bytes"
    default_unit: str | None = "GB"
    band: Band = "count"
    symbols: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CountAnswer:
    """A whole number of things (`noun`: "GPUs", "sequences"): right or wrong."""

    value: int
    noun: str


@dataclass(frozen=True, kw_only=True)
class FactorAnswer:
    """How many times larger (or smaller, below 1) something becomes."""

    value: Fraction


@dataclass(frozen=True, kw_only=True)
class YesNoAnswer:
    """Yes or no, and the number that proves it."""

    value: bool
    proof: QuantityAnswer


Answer = QuantityAnswer | CountAnswer | FactorAnswer | YesNoAnswer | RankingAnswer


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A wrong number that one named change of the ledger would give.

    Args:
        name: short and unique in its problem, such as "master copy forgotten".
        value: what the mistake yields, in the unit of the answer.
        feedback: one or two sentences: what was left out or taken twice, with its size.
    """

    name: str
    value: Fraction
    feedback: str


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
