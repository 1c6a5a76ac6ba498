"""Topic H, real failures: the events of a step, and the moment at which most is alive."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import MIB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.artefacts.events import Event, alive, step
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

PARTS: dict[Level, tuple[int, int]] = {"junior": (2, 3), "mid": (3, 5)}
SMALLEST = 64 * MIB


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """The events of a step, and what is alive after each."""

    events: tuple[Event, ...]

    @cached_property
    def alive(self) -> tuple[int, ...]:
        """Bytes after each event."""
        return alive(self.events)

    @property
    def peak(self) -> int:
        """Most of them."""
        return max(self.alive)

    @property
    def at(self) -> int:
        """The place of the event after which it is so; the first of several."""
        return self.alive.index(self.peak)

    @property
    def lines(self) -> tuple[str, ...]:
        """The events as they are shown."""
        rows = [
            f"{place:>2}  {'free ' if event.released else 'alloc'}  "
            f"{number(event.size // MIB):>9} MiB  {event.what}"
            for place, event in enumerate(self.events)
        ]
        return tuple(rows)


@kind_at_levels(
    name="timeline-peak",
    topic="H",
    levels=("junior", "mid"),
    title="The peak in a snapshot's timeline",
    sources=(
        "PyTorch documentation, understanding CUDA memory usage: snapshots",
        "traced steps of PyTorch 2.13",
    ),
)
def timeline_peak(draw: Draw, level: Level) -> Draft | None:
    """Ask for the most that is alive, by the allocations and releases of a step."""
    run, parts = _run(draw), draw.between(*PARTS[level])
    if run is None:
        return None
    layers = run.architecture.layers
    line = Timeline(events=step(ledger(run), layers=layers, parts=parts))
    if min(event.size for event in line.events) < SMALLEST or line.at == 0:
        return None
    return Draft(
        prompt=render("timeline-peak", x=run),
        exhibit="\n".join(line.lines),
        answer=QuantityAnswer(value=Fraction(line.peak)),
        hints=(
            "Add and take away line by line; which line is the last before releases win?",
            (
                "There are few summits: where the loss makes its gradients, where the backward "
                "pass begins, and in the optimizer's step."
            ),
            (
                f"The highest is after line {line.at}, which brings "
                f"{number(line.events[line.at].size // MIB)} MiB more."
            ),
        ),
        solution=tuple(_steps(line)),
        mistakes=tuple(no_unit_slip(line.peak, _mistakes(line))),
        scenario=run,
    )


def _run(draw: Draw) -> Scenario | None:
    """Return a run on one GPU whose gradients are made and released in every step."""
    run = scenarios.run(draw, low=20, high=100)
    if run is None or run.parallel.data > 1 or run.recipe.recompute != "none":
        return None
    lasting = run.workload.gradient_accumulation > 1 or run.recipe.precision == "mixed-fp32-grad"
    return None if lasting else run


def _summits(line: Timeline) -> Iterator[int]:
    """Yield the places before which more was allocated and behind which it is released."""
    for place, event in enumerate(line.events[:-1]):
        if not event.released and line.events[place + 1].released:
            yield place


def _steps(line: Timeline) -> Iterator[Step]:
    summits = sorted(_summits(line), key=lambda place: -line.alive[place])[:3]
    for place in sorted(summits):
        yield Step(
            text=f"after line {place} ({line.events[place].what}): {paper(line.alive[place])}",
            depth="whiteboard",
        )
    yield Step(
        text=f"the highest, after line {line.at}: {number(line.peak // MIB)} MiB = "
        f"{paper(line.peak)}",
        depth="whiteboard",
    )
    yield Step(text=f"{gb(line.alive[0])} of it were alive before and stay")
    yield Step(text=f"alive at the end of the step: {gb(line.alive[-1])}")
    yield Step(text=f"most, with {line.events[line.at].what}: {gb(line.peak)}")


def _mistakes(line: Timeline) -> Iterator[Mistake]:
    peak = line.peak
    given = [event.size for event in line.events if not event.released]
    yield wrong_size(
        sum(given),
        peak,
        "nothing released",
        "adds up all that is allocated; {off} are released before or come after the peak.",
    )
    yield wrong_size(
        peak - line.alive[0],
        peak,
        "what was there before left out",
        "is what this step adds; weights and optimizer states are there all along, {off} more.",
    )
    other = max((line.alive[p] for p in _summits(line) if p != line.at), default=0)
    if other:
        yield wrong_size(
            other,
            peak,
            "another summit",
            "is a summit, and not the highest one, which has {off} more.",
        )
    yield wrong_size(
        max(given),
        peak,
        "the largest request alone",
        "is the largest single line; what else is alive then is {off} more.",
    )
