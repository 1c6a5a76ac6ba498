"""Topic E, levers: their order by what they cost in step time."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from engine.costs.step_time import StepTime, step_time
from engine.errors import InputError
from engine.estimate import fits
from engine.levers.registry import levers
from engine.levers.ties import TIE, tied
from engine.scenario import Scenario
from problems import lever_runs
from problems.answers.ranking import Measure, RankedItem, RankingAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.lever_runs import Priced, most, shares, told, why
from problems.peaks import Run
from problems.problem import Level, Step
from problems.wording import listed

# One of each row at least is asked about: what is nearly free, what computes or sends again, what
# goes to the host. None of them trains something else.
CHEAP = (
    "smaller micro-batch",
    "fused attention",
    "fused optimizer",
    "fused cross entropy",
    "chunked cross entropy",
    "selective recompute",
    "ZeRO-1",
    "ZeRO-2",
)
MIDDLE = (
    "full recompute",
    "full recompute",
    "ZeRO-3",
    "tensor parallel",
    "pipeline parallel",
    "activation offload",
)
DEAR = ("CPU offload", "NVMe offload")
COUNTS: Mapping[Level, tuple[int, ...]] = {"mid": (4,), "senior": (5, 6)}
FEWEST_GROUPS = 3
# In points of a percent, beyond those of a tie: how far apart groups are to be at least.
CLEAR = 0.02


@kind_at_levels(
    name="rank-levers",
    topic="E",
    levels=("mid", "senior"),
    title="Order of levers by what they cost in step time",
    sources=("docs/levers.md",),
)
def rank_levers(draw: Draw, level: Level) -> Draft | None:
    """Ask for the order of four levers, or of five or six, on a run that does not fit."""
    scenario = lever_runs.cramped(draw)
    return None if scenario is None else order_on(draw, scenario, COUNTS[level])


def order_on(draw: Draw, scenario: Scenario, counts: tuple[int, ...]) -> Draft | None:
    """Return the question for the order of levers on a run, None where it is not clear.

    Args:
        draw: chooses the levers.
        scenario: does not fit.
        counts: how many levers there may be.
    """
    before = step_time(scenario)
    found = tuple(_found(draw, scenario, before))
    groups = tied(found, lambda row: row.overhead)
    enough = len(found) in counts and len(groups) >= FEWEST_GROUPS
    if not enough or not _is_clear(groups) or fits(scenario) != "no":
        return None
    return Draft(
        prompt=_prompt(scenario, before, found),
        answer=_answer(found, groups),
        hints=_hints(before, found),
        solution=tuple(_steps(found, groups)),
        mistakes=(),
        scenario=scenario,
    )


def _found(draw: Draw, scenario: Scenario, before: StepTime) -> Iterator[Priced]:
    """Yield those of five to seven levers, in drawn order, that apply.

    Left out is a move to a faster stack: what its kernels gain is not the lever's doing.
    """
    drawn = (*draw.sample(CHEAP, 3), *draw.sample(MIDDLE, 3), draw.choice(DEAR))
    names = tuple(dict.fromkeys(drawn))
    for name in draw.sample(names, len(names)):
        try:
            after = lever_runs.pulled(draw, scenario, name)
        except InputError:
            continue
        if after is not None:
            row = lever_runs.priced(name, before, after)
            if after.implementation == scenario.implementation or row.overhead > 0:
                yield row


Groups = Sequence[Sequence[Priced]]


def _is_clear(groups: Groups) -> bool:
    """Return whether those of a group are near each other, and no others are, by a margin."""
    place = {row.name: n for n, group in enumerate(groups) for row in group}
    for one, other in combinations([row for group in groups for row in group], 2):
        apart = abs(one.overhead - other.overhead)
        if apart > TIE if place[one.name] == place[other.name] else apart <= TIE + CLEAR:
            return False
    return True


def _prompt(scenario: Scenario, before: StepTime, found: Sequence[Priced]) -> str:
    said = told(scenario, before, [row.scenario for row in found])
    return Run(scenario=scenario).prompt("rank-levers", ask_micro_batch=False, **said)


def _answer(found: Sequence[Priced], groups: Groups) -> RankingAnswer:
    keys = {row.name: str(n) for n, row in enumerate(found, 1)}
    return RankingAnswer(
        items=tuple(
            RankedItem(
                key=keys[row.name],
                name=row.name,
                aliases=levers()[row.name].short,
                value=row.percent,
            )
            for row in found
        ),
        order=tuple(tuple(keys[row.name] for row in group) for group in groups),
        measure=Measure(verb="costs", unit="%", of="step time", signed=True),
        first="cheapest",
    )


def _hints(before: StepTime, found: Sequence[Priced]) -> tuple[str, str, str]:
    moved: dict[str, list[str]] = {}
    for row in found:
        moved.setdefault(row.adds, []).append(row.name)
    said = [f"{what}: {listed(names)}" for what, names in moved.items()]
    return (
        (
            "Ask of each lever what it adds to a step: matrix products, bytes between GPUs, bytes "
            "to the host and back, or none of these."
        ),
        (
            f"A step is {shares(before)}. More of a large share costs much, more of a small one "
            "little."
        ),
        f"What they add here, {'; '.join(said)}.",
    )


def _steps(found: Sequence[Priced], groups: Groups) -> Iterator[Step]:
    for row in found:
        yield Step(text=f"{row.name}: {why(row)}", depth="whiteboard")
    for row in (row for group in groups for row in group):
        yield Step(text=f"{row.name}: {float(row.percent):+.1f}% step time{most(row)}")
    order = " > ".join(" = ".join(row.name for row in group) for group in groups)
    yield Step(text=f"the cheapest first: {order}")
