"""What a wrong earlier line does to a peak, and to what a lever saves at it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.ledger import Category, Phase
from problems.exact import saved
from problems.interview import states
from problems.interview.posed import Talk
from problems.interview.script import Moment, Move
from problems.peaks import Run

# At these two moments of a step all of the saved activations and gathered layers are there.
FULL = (Phase.LOSS, Phase.BACKWARD_FIRST)
Shares = tuple[Fraction, ...]
NOTHING, ALL = Fraction(0), Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the ledger that is asked for before the peak.

    Args:
        key: of its question.
        said: "the saved activations".
        of: its bytes in a run.
        alive: whether it is there in a phase of a run's step.
        moved: by what an error in it may be multiplied where a run becomes another one.
    """

    key: str
    said: str
    of: Callable[[Run], int]
    alive: Callable[[Run, Phase], bool]
    moved: Callable[[Run, Run], Shares]


def _logits(run: Run) -> int:
    return max(run.ledger.total(Category.LOGITS, phase=phase) for phase in run.ledger.phases)


def _has_saved(run: Run, phase: Phase) -> bool:
    """Say whether the activations are there in a phase, but for a tenth of them."""
    alive = run.ledger.total(Category.ACTIVATIONS, phase=phase)
    return 10 * alive >= 9 * saved(run.ledger)


def _has_logits(run: Run, phase: Phase) -> bool:
    alive = run.ledger.total(Category.LOGITS, phase=phase)
    return 2 * alive >= _logits(run)


def _states_moved(before: Run, after: Run) -> Shares:
    """Return both: the error is in what is not shared, or all of it goes as the line does."""
    x, y = before.scenario, after.scenario
    scaled = Fraction(states.sized(y), states.sized(x))
    if x.parallel.zero != y.parallel.zero:
        return scaled, NOTHING
    return (scaled,) if x.parallel.zero == 3 else (ALL, scaled)


def _saved_moved(before: Run, after: Run) -> Shares:
    """Return what becomes of an error in them: it may always go as the line does.

    Where layer inputs alone are kept it may be gone; where attention's inside alone goes it may
    be in what stays. A longer sequence multiplies by its square what belongs to pairs of tokens.
    """
    x, y = before.scenario, after.scenario
    scaled = Fraction(saved(after.ledger), saved(before.ledger))
    if x.recipe.recompute != y.recipe.recompute:
        return (NOTHING if y.recipe.recompute == "full" else ALL, scaled)
    if x.recipe.attention != y.recipe.attention:
        return (ALL, scaled)
    times, length = by_tokens(before, after), Fraction(y.workload.sequence, x.workload.sequence)
    is_linear = abs(scaled - times) * 100 < times
    return (scaled,) if is_linear else (scaled, times, times * length)


def by_tokens(before: Run, after: Run) -> Fraction:
    """Return how many times as many tokens a micro-batch has."""
    return Fraction(after.scenario.tokens, before.scenario.tokens)


def _gathered(run: Run) -> int:
    return sum(
        size
        for line, size in zip(run.ledger.lines, run.ledger.sizes, strict=True)
        if line.name.startswith("gathered") and Phase.BACKWARD_FIRST in line.phases
    )


STATES = Line(
    key="states",
    said="the states",
    of=lambda run: states.sized(run.scenario),
    alive=lambda *_: True,
    moved=_states_moved,
)
ACTIVATIONS = Line(
    key="activations",
    said="the saved activations",
    of=lambda run: saved(run.ledger),
    alive=_has_saved,
    moved=_saved_moved,
)
LOGITS = Line(
    key="logits",
    said="logits and loss",
    of=_logits,
    alive=_has_logits,
    moved=lambda before, after: (by_tokens(before, after),),
)
GATHERED = Line(
    key="gathered",
    said="what is gathered",
    of=_gathered,
    alive=lambda run, phase: run.scenario.parallel.zero == 3 and phase in FULL,
    moved=lambda *_: (ALL,),
)
LINES = (STATES, ACTIVATIONS, LOGITS, GATHERED)


def at_peak(run: Run) -> tuple[Line, ...]:
    """Return the lines that are there at the peak of a run."""
    return tuple(line for line in LINES if line.alive(run, run.ledger.peak_phase))


def moments(talk: Talk, run: Run, after: Run) -> tuple[Moment, ...]:
    """Return the moments of a step, the highest first, of what a lever makes of a run."""
    asked, phases = tuple(_asked(talk, run)), after.ledger.phases
    return tuple(
        Moment(
            size=phases[phase],
            without=frozenset(key for line, key, _ in asked if not line.alive(after, phase)),
        )
        for phase in sorted(phases, key=lambda one: -phases[one])
    )


def of_moments(talk: Talk, run: Run, after: Run) -> tuple[Move, ...]:
    """Return how those moments move with each line that was asked for before."""
    return _distinct(
        Move(question=key, times=times * left)
        for line, key, asked in _asked(talk, run)
        for times in line.moved(asked, run)
        for left in line.moved(run, after)
    )


def of_saving(talk: Talk, before: Run, after: Run) -> tuple[Move, ...]:
    """Return how what a lever saves at the peak moves with each line that was asked for."""
    return _distinct(
        Move(question=key, times=times * (_there(line, before) - _there(line, after) * left))
        for line, key, asked in _asked(talk, before)
        for times in line.moved(asked, before)
        for left in line.moved(before, after)
    )


def _there(line: Line, run: Run) -> int:
    return int(line.alive(run, run.ledger.peak_phase))


def _asked(talk: Talk, run: Run) -> Iterator[tuple[Line, str, Run]]:
    """Yield the lines that a run may be added up from, by question and run they are asked of."""
    runs = talk.runs
    for line in LINES:
        yield line, line.key, runs.base
    if run is runs.length.run:
        at = runs.length.key.removeprefix("peak-")
        yield ACTIVATIONS, f"activations-{at}", run
        yield LOGITS, f"logits-{at}", run
    if runs.twice is not None and run is runs.twice.run:
        yield ACTIVATIONS, "activations-twice", run
        yield LOGITS, "logits-twice", run
    if run is runs.ranks.run:
        yield STATES, f"states-on-{run.scenario.parallel.data}", run


def _distinct(moves: Iterator[Move]) -> tuple[Move, ...]:
    return tuple(dict.fromkeys(one for one in moves if one.times))
