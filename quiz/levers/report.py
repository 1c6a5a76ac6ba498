"""The levers of a scenario as values and as JSON: what each saves and costs, and the plans."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.estimate import Fits, capacity, fits_in
from engine.levers.assess import Applied, Assessments, assess
from engine.levers.change import Change, State, state
from engine.levers.changes import changes
from engine.levers.lever import Lever
from engine.levers.plans import Plan, Plans, plans
from engine.scenario import Scenario
from quiz.exits import Exit


@dataclass(frozen=True, kw_only=True)
class Report:
    """A scenario with its levers and plans.

    What fits is within the room of the plans: the card, less the headroom that was asked for.
    """

    scenario: Scenario
    levers: Assessments
    plans: Plans
    capacity: int

    @property
    def code(self) -> Exit:
        """The exit code: whether the scenario, a lever or a plan fits."""
        verdicts = {self.fits(self.levers.before)}
        verdicts |= {self.fits(row.change.after) for row in self.levers.ranked}
        if self.plans.plans or "yes" in verdicts:
            return Exit.DONE
        return Exit.TIGHT if "tight" in verdicts else Exit.NO

    def fits(self, found: State) -> Fits:
        """Say whether a step, as it is or changed, fits into the room."""
        return fits_in(found.ledger, self.plans.room)

    @property
    def best(self) -> Change | None:
        """The first plan beside the scenario; None where there is none."""
        if not self.plans.plans:
            return None
        return Change(before=self.levers.before, after=state(self.plans.plans[0].scenario))


def report(scenario: Scenario, *, headroom: int = 0) -> Report:
    """Return what is to be told of the levers of `scenario`; `headroom` as for plans.

    Raises:
        UnmodelledError: the scenario is one of inference.
    """
    return Report(
        scenario=scenario,
        levers=assess(scenario),
        plans=plans(scenario, headroom=headroom),
        capacity=capacity(scenario),
    )


def as_json(report: Report) -> dict[str, Any]:
    """Return the stable object that `memquiz levers --json` prints. Sizes are bytes."""
    return {
        "baseline_peak_bytes": report.levers.before.ledger.peak,
        "capacity_bytes": report.capacity,
        "fits": report.fits(report.levers.before),
        "levers": list(_levers(report)),
        "plans": [_plan(report.scenario, plan) for plan in report.plans.plans],
    }


def _levers(report: Report) -> Iterator[dict[str, Any]]:
    found = report.levers
    for rank, row in enumerate(found.ranked, 1):
        yield _applied(report, row, rank)
    for row in found.useless:
        yield _applied(report, row, None)
    for refused in found.refused:
        yield _named(refused.lever, refused.why_not) | dict.fromkeys(COUNTED)


COUNTED = (
    "peak_bytes",
    "saved_bytes",
    "categories",
    "step_time_overhead",
    "extra_compute",
    "extra_communication_bytes",
    "extra_host_bytes",
    "rank",
    "fits",
    "changes",
)


def _named(lever: Lever, why_not: str | None) -> dict[str, Any]:
    return {
        "name": lever.name,
        "applicable": why_not is None,
        "why_not": why_not,
        "changes_numerics": lever.changes_numerics,
    }


def _applied(report: Report, row: Applied, rank: int | None) -> dict[str, Any]:
    change = row.change
    counted = (
        change.after.ledger.peak,
        change.saved,
        {str(category): size for category, size in change.categories.items()},
        change.overhead,
        change.flops,
        change.communication_bytes,
        change.host_bytes,
        rank,
        report.fits(change.after),
        list(change.written),
    )
    return _named(row.lever, None) | dict(zip(COUNTED, counted, strict=True))


def _plan(scenario: Scenario, plan: Plan) -> dict[str, Any]:
    return {
        "levers": list(plan.levers),
        "peak_bytes": plan.peak,
        "step_time_overhead": plan.overhead,
        "changes": list(changes(scenario, plan.scenario)),
    }
