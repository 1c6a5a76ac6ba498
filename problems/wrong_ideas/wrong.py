"""A step as it would be if a wrong idea of it were right."""

from dataclasses import dataclass
from functools import cached_property

from engine.ledger import ALL_PHASES, Category, Phase
from problems.exact import Totals


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
    phases: tuple[Phase, ...] = ALL_PHASES
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
