"""A scenario before and after a change: bytes line by line, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.costs.step_time import StepTime, step_time
from engine.estimate import Fits, fits, ledger
from engine.ledger import Category, Ledger
from engine.levers.changes import changes
from engine.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class State:
    """A scenario with its ledger, its verdict and the time of its step."""

    scenario: Scenario
    ledger: Ledger
    fits: Fits
    time: StepTime

    @property
    def gpu_seconds(self) -> float:
        """Seconds of a step, times its GPUs."""
        return self.time.seconds * self.scenario.hardware.gpus


def state(scenario: Scenario) -> State:
    """Return what is to be known of `scenario`, by itself."""
    book = ledger(scenario)
    return State(
        scenario=scenario,
        ledger=book,
        fits=fits(scenario, book),
        time=step_time(scenario),
    )


@dataclass(frozen=True, kw_only=True)
class LineChange:
    """A line of the ledger as it counts at the peak before and after a change, in bytes."""

    name: str
    category: Category
    before: int
    after: int

    @property
    def saved(self) -> int:
        """Bytes that the change saves; negative where it adds."""
        return self.before - self.after


@dataclass(frozen=True, kw_only=True)
class Change:
    """A scenario before and after a change."""

    before: State
    after: State

    @property
    def saved(self) -> int:
        """Bytes by which the peak is lower."""
        return self.before.ledger.peak - self.after.ledger.peak

    @cached_property
    def lines(self) -> tuple[LineChange, ...]:
        """The lines that count otherwise at the peak, the largest saving first.

        Each ledger's lines at its own peak, so that the savings add up to that of the peak.
        """
        old, new = (
            {line.name: (line.category, size) for line, size in book.alive}
            for book in (self.before.ledger, self.after.ledger)
        )
        rows = [
            LineChange(
                name=name,
                category=(old.get(name) or new[name])[0],
                before=old[name][1] if name in old else 0,
                after=new[name][1] if name in new else 0,
            )
            for name in old | new
        ]
        return tuple(sorted((row for row in rows if row.saved), key=lambda row: -row.saved))

    @cached_property
    def categories(self) -> Mapping[Category, int]:
        """Bytes saved at the peak by category; negative where a category grows, none zero."""
        saved = dict.fromkeys(Category, 0)
        for line, size in self.before.ledger.alive:
            saved[line.category] += size
        for line, size in self.after.ledger.alive:
            saved[line.category] -= size
        return {category: size for category, size in saved.items() if size}

    @cached_property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The terms of the step's time that change, with seconds more, the largest first."""
        old, new = (_seconds(state.time) for state in (self.before, self.after))
        rows = [(name, new.get(name, 0.0) - old.get(name, 0.0)) for name in old | new]
        return tuple(sorted((row for row in rows if row[1]), key=lambda row: -abs(row[1])))

    @property
    def overhead(self) -> float:
        """Step time over that before, less 1: 0.33 is a third more."""
        return self.after.time.seconds / self.before.time.seconds - 1

    @property
    def price(self) -> float:
        """The same of GPU time: step time times GPUs.

        Where the change moves to another stack it is never negative: what that stack's kernels
        gain is not the lever's doing.
        """
        found = self.after.gpu_seconds / self.before.gpu_seconds - 1
        old, new = self.before.scenario, self.after.scenario
        return found if old.implementation == new.implementation else max(found, 0.0)

    @property
    def flops(self) -> int:
        """FLOPs of a rank's matrix products in a step, beyond those before."""
        return self.after.time.flops - self.before.time.flops

    @property
    def communication_bytes(self) -> int:
        """Bytes that a rank sends to others in a step, beyond those before."""
        return self.after.time.communication_bytes - self.before.time.communication_bytes

    @property
    def host_bytes(self) -> int:
        """Bytes between a rank and its host in a step, beyond those before."""
        return self.after.time.host_bytes - self.before.time.host_bytes

    @property
    def written(self) -> tuple[str, ...]:
        """What to write into the scenario file."""
        return changes(self.before.scenario, self.after.scenario)


def _seconds(time: StepTime) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in time.terms:
        found[term.name] = found.get(term.name, 0.0) + term.seconds
    return found
