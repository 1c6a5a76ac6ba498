"""A wrong idea of a step, and the step as it would be if that were right."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from engine.ledger import Category, Phase
from problems.exact import Totals
from problems.peaks import Run

# What is asked of a step: its peak; the peak that a proposal leads to; the largest micro-batch or
# context within some room.
Asked = Literal["peak", "proposal", "size"]

UNRANKED = 100


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """What a wrong idea makes of a step.

    Args:
        totals: allocated bytes by phase and category.
        why: follows the wrong number, in a sentence with a place for {off}, the size of the error.
        phases: those that it looks at.
        moves: the categories that it changes where the peak stays at its moment.
    """

    totals: Totals
    why: str
    phases: tuple[Phase, ...] = tuple(Phase)
    moves: frozenset[Category] = frozenset()

    @cached_property
    def phase_sizes(self) -> dict[Phase, int]:
        """Allocated bytes of the phases that it looks at."""
        return {
            phase: sum(rows.values())
            for phase, rows in self.totals.items()
            if phase in self.phases
        }

    @property
    def peak(self) -> int:
        """The peak that it leads to, in bytes."""
        return max(self.phase_sizes.values())


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
    of: Callable[[Run], Wrong | None]
    rare: bool = False
    precedence: int = UNRANKED
    asked: tuple[Asked, ...] = ("peak", "proposal", "size")
