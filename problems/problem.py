"""A problem and its parts, as frozen values: what is asked, what is right, what goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from engine.scenario import Scenario
from problems.answers.answer import Answer

Level = Literal["junior", "mid", "senior"]

TOPICS: Mapping[str, str] = {
    "A": "model states",
    "B": "activations",
    "C": "everything else",
    "D": "the peak",
    "E": "levers",
    "F": "inference",
    "G": "claims",
    "H": "real failures",
}


def kind_of(problem: str) -> str:
    """Return the name of the kind in a problem's id, such as "zero-states" of "zero-states@7"."""
    return problem.partition("@")[0]


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
        term: the name of the term whose number it gives, where several are asked for.
        share: what it earns of the credit, from 0 to below 1; None is what
            `problems.mistakes.share_of` has.
    """

    name: str
    value: Fraction
    feedback: str
    moves: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    term: str = ""
    share: Fraction | None = None


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
        exhibit: what is to be read beside it, line by line as it stands: a message, a table of a
            program, an excerpt of code; "" where there is none.
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
    exhibit: str = ""

    @property
    def id(self) -> str:
        """`kind@seed`."""
        return f"{self.kind}@{self.seed}"
