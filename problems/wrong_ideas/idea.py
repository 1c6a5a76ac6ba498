"""A wrong idea of a step: its name, its credit, and the function that gives the wrong step."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # mistakes are listed, by name and credit, without the ledger and sympy
    from problems.peaks import Run
    from problems.wrong_ideas.wrong import Wrong

# What is asked of a step: its peak; the peak that a proposal leads to; the largest micro-batch or
# context within some room.
Asked = Literal["peak", "proposal", "size"]

UNRANKED = 100


@dataclass(frozen=True, kw_only=True)
class Idea:
    """A wrong idea of a step that can be told from its number.

    Args:
        name: as a problem and a verdict call it, such as "master copy forgotten".
        share: what an answer with it earns of the credit, from 0 to below 1.
        says: what went wrong, in a sentence without numbers.
        of: makes the wrong step of a run; None where the idea does not apply to it.
        rare: people have it so seldom that a number which a common mistake gives too is put down
            to that.
        precedence: of two ideas that give one number the lower one is named first.
        asked: the questions in which it may lie behind a number.
    """

    name: str
    share: Fraction
    says: str
    of: "Callable[[Run], Wrong | None]"
    rare: bool = False
    precedence: int = UNRANKED
    asked: tuple[Asked, ...] = ("peak", "proposal", "size")
