"""Topic E, levers: the smallest degree of a lever that makes a run fit."""

from collections.abc import Iterator
from fractions import Fraction

from engine.levers.lever import WhyNot
from engine.levers.sharding import with_stage
from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from problems import scenarios
from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import SHARDS
from problems.peaks import Run, terms
from problems.problem import Level, Mistake, Step
from problems.smallest_split import smallest_split
from problems.splits_on_paper import is_clear, smallest
from problems.wording import gb, paper

STAGES = (1, 2, 3)
# Percent of the runs that ZeRO-1 is enough for which are passed over.
PASSED_OVER = 75
PRECISIONS = (("mixed", 5), ("fp32", 1))


@kind_at_levels(
    name="smallest-change",
    topic="E",
    levels=("mid", "senior"),
    title="Smallest degree of a lever that makes a run fit",
    sources=(
        "traced steps of PyTorch 2.13",
        "docs/levers.md",
    ),
    allows={
        "spread": "degrees of a lever are few",
    },
)
def smallest_change(draw: Draw, level: Level) -> Draft | None:
    """Ask for the lowest ZeRO stage, or for the smallest tensor or pipeline split, that fits."""
    if level == "mid":
        return _lowest_stage(draw)
    return smallest_split(draw, draw.weighted((("tensor", 1), ("pipeline", 4))))


def _lowest_stage(draw: Draw) -> Draft | None:
    found = _replicated(draw)
    if found is None:
        return None
    room = found[0].scenario.hardware.gpu.memory
    passed_over = draw.chance(PASSED_OVER)
    sums = {stage: run.paper.peak for stage, run in found.items()}
    right = smallest(STAGES, sums.__getitem__, room)
    if not right or (right == 1 and passed_over) or not is_clear(sums, right, room):
        return None
    near = {stage: found[stage].ledger.peak for stage in range(right + 1)}
    if not is_clear(near, right, room):
        return None
    return Draft(
        prompt=found[0].prompt("smallest-zero", ask_micro_batch=False),
        answer=CountAnswer(value=right, before="ZeRO-", among=STAGES),
        hints=_stage_hints(found, room),
        solution=tuple(_stage_steps(found, right, room)),
        mistakes=tuple(_stage_mistakes(found, right, room)),
        scenario=found[0].scenario,
    )


def _replicated(draw: Draw) -> dict[int, Run] | None:
    """Return a run under DDP that does not fit on paper, and what each ZeRO stage makes of it."""
    gpu = scenarios.gpu_for(draw, scenarios.MOST_RANKS[0])
    if scenarios.is_old(gpu):
        return None
    model, ranks = (
        scenarios.modelled(draw.choice(scenarios.trainable())),
        draw.choice((4, 8, 16, 32)),
    )
    sequence = scenarios.sequence_for(draw, model, attention="flash")
    recompute = draw.choice(("none", "full"))
    base = Scenario(
        model=model,
        workload=Workload(
            micro_batch=draw.choice((1, 2, 4, 8)),
            sequence=sequence,
            gradient_accumulation=draw.choice((1, 2, 8)),
        ),
        recipe=Recipe(
            precision=draw.weighted(PRECISIONS),
            optimizer=draw.choice(("adamw", "adamw-fused")),
            recompute=recompute,
        ),
        parallel=Parallel(data=ranks),
        hardware=Hardware(gpu=gpu, gpus=ranks),
    )
    sharded = [base, *(with_stage(base, stage) for stage in STAGES)]
    runs = [Run(scenario=one) for one in sharded if not isinstance(one, WhyNot)]
    tokens = base.tokens <= scenarios.MOST_TOKENS
    fits = runs[0].paper.peak <= gpu.memory or runs[-1].paper.peak > gpu.memory
    return None if fits or not tokens else dict(enumerate(runs))


def _stage_hints(found: dict[int, Run], room: int) -> tuple[str, str, str]:
    moment = found[0].paper.moment
    tokens = [x for x in moment.amounts if x.tokens]
    stays = "none of it is of the micro-batch's tokens, which no stage shares"
    if tokens:
        size = paper(sum(x.size for x in tokens))
        stays = f"{size} of it are of the micro-batch's tokens and stay whole"
    return (
        (
            "A stage shares optimizer states first, then gradients too, then weights too. What "
            f"has to come below {gb(room)} is all that is alive at once."
        ),
        (f"Without ZeRO the peak on paper is {paper(moment.size)}, at {moment.said}; {stays}."),
        (
            f"ZeRO-1 leaves {paper(found[1].paper.peak)} on paper, at "
            f"{found[1].paper.moment.said}. Go on from there, if it is too much."
        ),
    )


def _stage_steps(found: dict[int, Run], right: int, room: int) -> Iterator[Step]:
    for stage in range(right + 1):
        moment = found[stage].paper.moment
        name = f"ZeRO-{stage}" if stage else "without ZeRO"
        if stage == right:
            yield Step(text=f"{name}, most is alive at {moment.said}:", depth="whiteboard")
            yield from terms(moment)
        than = "within" if moment.size <= room else "above"
        yield Step(
            text=f"{name}: {paper(moment.size)} at {moment.said}, {than} {gb(room)}",
            depth="whiteboard",
        )
    yield Step(text=f"the lowest stage that fits: {right}", depth="whiteboard")
    for stage in range(1, right + 1):
        yield Step(text=f"ZeRO-{stage} exactly: {gb(found[stage].ledger.peak)} of {gb(room)}")
    yield Step(text=f"so the lowest is ZeRO-{right}, stage {right}")


def _stage_mistakes(found: dict[int, Run], right: int, room: int) -> Iterator[Mistake]:
    ranks = found[0].scenario.parallel.data
    shared = {
        stage: max(moment.fixed + moment.growing // ranks for moment in run.paper.moments)
        for stage, run in found.items()
    }
    lowest = smallest(STAGES, shared.__getitem__, room)
    yield Mistake(
        name="activations taken as sharded",
        value=Fraction(lowest),
        feedback=f"{lowest} would do if ZeRO shared what a micro-batch's tokens need; each rank "
        "has tokens of its own, and all of that stays.",
    )
    for stage in STAGES:
        if stage == right:
            continue
        size = gb(found[stage].ledger.peak)
        less = f"is not enough: ZeRO-{stage} {SHARDS[stage]}, and {size} of {gb(room)} are left."
        more = f"fits too, with {size}, but ZeRO-{right} is enough with "
        more += f"{gb(found[right].ledger.peak)} of {gb(room)}."
        yield Mistake(
            name=f"ZeRO-{stage} taken",
            value=Fraction(stage),
            feedback=f"{stage} {less if stage < right else more}",
        )
