"""Topic E, levers: the fewest GPUs on which a whole step fits under ZeRO-3."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from engine.units import MB
from problems import scenarios
from problems.amounts import Moment, Paper
from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.on_paper import on_paper, parameters_of, run_parts
from problems.peaks import Run, terms
from problems.problem import Level, Mistake, Step
from problems.splits_on_paper import smallest
from problems.wording import gb, number, paper

COUNTS = tuple(2**n for n in range(1, 11))
FEWEST, MOST = 4, 512
ROOMS = (75, 80, 85, 90, 95)
# How near the room a peak may come before it is no clear answer.
NEAR = Fraction(5, 100)
TELLING = 2
# Bytes a parameter with which a model fills a card at least: what is smaller needs no sharding.
EACH = 12


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run under ZeRO-3 whose number of GPUs is open."""

    base: Scenario
    percent: int

    @property
    def room(self) -> int:
        """Bytes of a GPU that the step may take."""
        return self.base.hardware.gpu.memory * self.percent // 100

    @cached_property
    def _papers(self) -> dict[int, Paper]:
        return {}

    def paper(self, gpus: int) -> Paper:
        """Return the sums on paper on so many GPUs, each added up when it is first asked for."""
        if gpus not in self._papers:
            self._papers[gpus] = on_paper(self.on(gpus))
        return self._papers[gpus]

    def on(self, gpus: int) -> Scenario:
        """Return the run on so many GPUs."""
        hardware = replace(self.base.hardware, gpus=gpus)
        return replace(
            self.base, parallel=replace(self.base.parallel, data=gpus), hardware=hardware
        )

    @property
    def states(self) -> int:
        """Bytes of all model states, those that each GPU has a part of."""
        return each_of_all(self) * parameters_of(self.base.architecture)

    @property
    def by_states(self) -> int:
        """The fewest GPUs that hold the model states alone."""
        return self.fewest(lambda _moment, gpus: self.states // gpus, self.room)

    def fewest(self, size: Callable[[Moment, int], int], room: int) -> int:
        """Return the fewest GPUs on which no moment's `size` is above `room`; 0 where none are."""

        def peak(gpus: int) -> int:
            return max(size(moment, gpus) for moment in self.paper(gpus).moments)

        return smallest(COUNTS, peak, room)


@kind_at_levels(
    name="fewest-gpus-to-train",
    topic="E",
    levels=("mid", "senior"),
    title="Fewest GPUs on which a whole step fits",
    sources=(
        "traced steps of PyTorch 2.13",
        "docs/levers.md",
    ),
)
def fewest_gpus_to_train(draw: Draw, level: Level) -> Draft | None:
    """Ask for the fewest GPUs on which states, activations and gathered layers fit.

    At mid level the states alone ask for as many.
    """
    plan = _plan(draw)
    if plan is None:
        return None
    right = plan.fewest(lambda moment, _gpus: moment.size, plan.room)
    if not FEWEST <= right <= MOST or (plan.by_states == right) != (level == "mid"):
        return None
    few, half = plan.paper(right), plan.paper(right // 2)
    if not half.moment.growing or not _is_clear(few.peak, half.peak, plan.room):
        return None
    run, fewer = Run(scenario=plan.on(right)), Run(scenario=plan.on(right // 2))
    if not _is_clear(run.ledger.peak, fewer.ledger.peak, plan.room):
        return None
    mistakes = tuple(_mistakes(plan, right, fewer))
    if len({m.value for m in mistakes if m.value not in {0, right}}) < TELLING:
        return None
    return Draft(
        prompt=run.prompt(
            "fewest-gpus-to-train", ask_micro_batch=False, ask_gpus=1, percent=plan.percent
        ),
        answer=CountAnswer(value=right, noun="GPUs"),
        hints=_hints(plan, fewer),
        solution=tuple(_steps(plan, run, fewer)),
        mistakes=mistakes,
        scenario=run.scenario,
    )


def _is_clear(here: int, with_half: int, room: int) -> bool:
    return here <= (1 - NEAR) * room and with_half >= (1 + NEAR) * room


def _plan(draw: Draw) -> Plan | None:
    """Return a run whose states are too large for two GPUs."""
    gpu = scenarios.gpu_for(draw, scenarios.MOST_RANKS[0])
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    recipe = Recipe(
        precision=draw.weighted(scenarios.SHARDED_PRECISIONS),
        optimizer=draw.choice(("adamw", "adamw-fused")),
        recompute=draw.choice(("none", "full")),
    )
    work = Workload(
        micro_batch=draw.choice((1, 2, 4)),
        sequence=scenarios.sequence_for(draw, model, attention="flash"),
        gradient_accumulation=draw.choice((1, 2, 4, 8)),
    )
    percent = draw.choice(ROOMS)
    if scenarios.is_old(gpu) or work.micro_batch * work.sequence > scenarios.MOST_TOKENS:
        return None
    if parameters_of(model.architecture) * EACH < gpu.memory:
        return None
    base = Scenario(
        model=model,
        workload=work,
        recipe=recipe,
        parallel=Parallel(data=FEWEST, zero=3),
        hardware=Hardware(gpu=gpu, gpus=FEWEST),
    )
    return Plan(base=base, percent=percent)


def _hints(plan: Plan, run: Run) -> tuple[str, str, str]:
    moment = run.paper.moment
    room = f"{plan.percent}% of {number(plan.base.hardware.gpu.memory_mib)} MiB is {gb(plan.room)}"
    shared = each_of_all(plan)
    whole = [f"{x.name} {paper(x.size)}" for x in moment.amounts if _is_whole(x.name)]
    return (
        f"The room first: {room}. Then part what every GPU has whole from what they share.",
        f"Whole on each GPU at {moment.said}: {'; '.join(whole)}.",
        (
            f"They share {shared} bytes a parameter in all, though not all of these are there at "
            "each moment. Take what is whole from the room and see how many GPUs the rest takes."
        ),
    )


def each_of_all(plan: Plan) -> int:
    """Return the bytes of all model states for each parameter."""
    return sum(part.each for part in run_parts(plan.base))


def _is_whole(name: str) -> bool:
    """Return whether a term is the same on any number of GPUs."""
    return name not in {"states that stay", "gradients", "optimizer's temporaries"} and (
        not name.startswith("gradients of the layers")
    )


def _steps(plan: Plan, run: Run, fewer: Run) -> Iterator[Step]:
    gpus, half = run.scenario.hardware.gpus, fewer.scenario.hardware.gpus
    percent, room = plan.percent, plan.room
    said = f"{percent}% of {number(plan.base.hardware.gpu.memory_mib)} MiB = {paper(room)}"
    yield Step(text=f"room: {said}", depth="whiteboard")
    moment = fewer.paper.moment
    yield Step(text=f"with {half} GPUs most is alive at {moment.said}:", depth="whiteboard")
    yield from terms(moment)
    yield Step(text=f"together {paper(moment.size)}, above the room", depth="whiteboard")
    moment = run.paper.moment
    yield Step(
        text=f"with {gpus} it is {paper(moment.size)}, at {moment.said}, within the room",
        depth="whiteboard",
    )
    yield Step(text=f"so the fewest are {gpus}", depth="whiteboard")
    yield Step(text=f"exactly, on {half} GPUs: {gb(fewer.ledger.peak)} of {gb(room)}")
    yield Step(text=f"exactly, on {gpus} GPUs: {gb(run.ledger.peak)} of {gb(room)}")
    yield Step(text=f"the fewest GPUs: {gpus}")


def _mistakes(plan: Plan, right: int, fewer: Run) -> Iterator[Mistake]:
    yield from _left_out(plan, fewer.paper.moment)
    yield from _other_rooms(plan)
    left = f"leaves {gb(fewer.ledger.peak)} on each, more than the {gb(plan.room)}."
    yield _counted(right // 2, "half of what it takes", left)
    yield _counted(
        2 * right, "twice of what it takes", f"would do too, but the step fits on {right}."
    )


def _left_out(plan: Plan, moment: Moment) -> Iterator[Mistake]:
    """Yield what would do without a part of what is whole on each GPU."""
    yield _counted(
        plan.by_states,
        "model states alone",
        f"would hold the {gb(plan.states)} of states; activations and gathered layers add to it.",
    )
    yield _counted(
        plan.fewest(lambda m, gpus: m.fixed + m.growing // gpus, plan.room),
        "activations taken as sharded",
        "would do if GPUs shared what the tokens need; each has a micro-batch of its own.",
    )
    yield _counted(
        plan.fewest(lambda m, _gpus: m.size - _gathered(m), plan.room),
        "gathered layers left out",
        f"leaves out what is gathered, {gb(_gathered(moment))}, which is whole on each GPU.",
    )


def _other_rooms(plan: Plan) -> Iterator[Mistake]:
    gpu, percent = plan.base.hardware.gpu, plan.percent
    yield _counted(
        plan.fewest(lambda m, _gpus: m.size, gpu.memory),
        "share forgotten",
        f"would do in the whole {gb(gpu.memory)}; {percent}% of it is {gb(plan.room)}.",
    )
    yield _counted(
        plan.fewest(lambda m, _gpus: m.size, gpu.memory_mib * MB * percent // 100),
        "MiB taken for MB",
        f"comes of {number(gpu.memory_mib)} MiB read as MB; the room is {gb(plan.room)}.",
    )


def _counted(gpus: int, name: str, why: str) -> Mistake:
    noun = "GPU" if gpus == 1 else "GPUs"
    return Mistake(name=name, value=Fraction(gpus), feedback=f"{gpus} {noun}: that {why}")


def _gathered(moment: Moment) -> int:
    return sum(x.size for x in moment.amounts if x.name.startswith("gathered"))
