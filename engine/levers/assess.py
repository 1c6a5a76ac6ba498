"""What each lever saves and costs on a scenario, and in which order to pull them.

The price of a lever is the time that a step then takes, times the GPUs that it takes it on, over
the same of the scenario. Prices no more than five points of a hundred apart are one price, and
among those the less invasive lever comes first. A lever that saves nothing at the peak has no
rank, however cheap it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.levers.change import Change, State, state
from engine.levers.lever import Lever, WhyNot
from engine.levers.registry import levers
from engine.levers.ties import tied
from engine.modelled import require_training
from engine.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A lever that applies, and what it does."""

    lever: Lever
    change: Change

    @property
    def price(self) -> float:
        """The change's price; what changes numerics is not favoured for the time that it saves."""
        found = self.change.price
        return max(found, 0.0) if self.lever.changes_numerics else found


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A lever that does not apply, and why, in a sentence."""

    lever: Lever
    why_not: str


@dataclass(frozen=True, kw_only=True)
class Assessments:
    """Every lever on a scenario.

    Attributes:
        before: the scenario as it is.
        groups: levers that save memory at the peak, in groups of one price, the cheapest first;
            in a group the least invasive first.
        useless: levers that apply and save nothing.
        refused: levers that do not apply.
    """

    before: State
    groups: tuple[tuple[Applied, ...], ...]
    useless: tuple[Applied, ...]
    refused: tuple[Refused, ...]

    @property
    def ranked(self) -> tuple[Applied, ...]:
        """The levers that save memory, the first to pull first."""
        return tuple(row for group in self.groups for row in group)


def assess(scenario: Scenario, among: Iterable[Lever] | None = None) -> Assessments:
    """Return what every lever, or each of `among`, does to `scenario`.

    Raises:
        UnmodelledError: the scenario is one of inference.
    """
    require_training(scenario, "levers", "change the scenario; memquiz solve says what has room")
    before = state(scenario)
    applied, refused = [], []
    for lever in levers().values() if among is None else among:
        changed = lever.applied(scenario)
        if isinstance(changed, WhyNot):
            refused.append(Refused(lever=lever, why_not=changed.sentence))
        else:
            change = Change(before=before, after=state(changed))
            applied.append(Applied(lever=lever, change=change))
    groups = tied((row for row in applied if row.change.saved > 0), lambda row: row.price)
    return Assessments(
        before=before,
        groups=tuple(
            tuple(sorted(group, key=lambda row: row.lever.invasiveness)) for group in groups
        ),
        useless=tuple(row for row in applied if row.change.saved <= 0),
        refused=tuple(refused),
    )
