"""Topic E, levers: the states under a plan of several parallel degrees, with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.units import count
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import SHARDS, STAGES, Part, each_of, parts_of
from problems.repairs import repair
from problems.wording import card, number, recipe_said
from problems.worked import Line, Worked, WrongLine

TENSOR, PIPELINE, DATA = (2, 4, 8), (1, 2, 4, 8, 16), (2, 4, 8, 16, 32, 64)
PERCENTS = (80, 85, 90, 95)
LEAST = 6 * 10**9  # parameters below which no model is split so


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A model split over tensor, pipeline and data-parallel ranks.

    Args:
        parameters: of the model.
        parts: of its states.
        tensor: ranks that split each matrix.
        pipeline: stages of as many layers.
        data: ranks that hold the same part.
        stage: the ZeRO stage among those.
        memory: bytes of a card.
        said: how its driver says that.
        percent: of it that may be used.
    """

    parameters: int
    parts: tuple[Part, ...]
    tensor: int
    pipeline: int
    data: int
    stage: int
    memory: int
    said: str
    percent: int

    @property
    def gpus(self) -> int:
        """All ranks."""
        return self.tensor * self.pipeline * self.data


@kind(
    name="repair-plan",
    topic="E",
    level="senior",
    title="The first wrong step of a parallel plan",
    sources=(
        "NVIDIA/Megatron-LM docs, distributed optimizer",
        "harvard-edge/cs249r_book StaffML, cloud/02_distributed_systems.md",
        "arXiv 1910.02054 section 5",
    ),
)
def repair_plan(draw: Draw) -> Draft | None:
    """Ask for the first wrong step of what a plan leaves on each GPU."""
    model, recipe = scenarios.any_model(draw), scenarios.states_recipe(draw)
    gpu = scenarios.gpu_for(draw, 2 * scenarios.NODE, precision=recipe[0])
    plan = Plan(
        parameters=model.parameters,
        parts=parts_of(*recipe),
        tensor=draw.choice(TENSOR),
        pipeline=draw.choice(PIPELINE),
        data=draw.choice(DATA),
        stage=draw.choice((1, 2)),
        memory=gpu.memory,
        said=f"{number(gpu.memory_mib)} MiB",
        percent=draw.choice(PERCENTS),
    )
    a = model.architecture
    fits = planned(plan).values()["left"] > 0
    splits = a.heads % plan.tensor == 0 and a.layers % plan.pipeline == 0 and a.experts is None
    if not (fits and splits and any(part.stage <= plan.stage for part in plan.parts)):
        return None
    if plan.parameters < LEAST:
        return None
    about = (
        f"{model.title} ({number(model.parameters)} parameters), {recipe_said(*recipe)}. "
        f"{plan.gpus} GPUs: tensor parallel {plan.tensor} × pipeline {plan.pipeline} × data "
        f"parallel {plan.data}, parameters split evenly, {STAGES[plan.stage]} among the "
        f"data-parallel ranks, which {SHARDS[plan.stage]}. The driver of one {card(gpu)} reports "
        f"{plan.said}, of which {plan.percent}% may be used. Somebody works out what the states "
        "leave of it."
    )
    return repair(draw, about, planned(plan), (*_wrongs(plan),))


def planned(plan: Plan) -> Worked:
    """Return the way from the parameters on a GPU to what is left of it."""
    return Worked(lines=(*_lines(plan),))


def _lines(plan: Plan) -> Iterator[Line]:
    split = plan.tensor * plan.pipeline
    yield _parameters(plan, f"({plan.tensor} × {plan.pipeline})", split)
    yield Line(
        key="ranks",
        says=f"data-parallel ranks: {plan.gpus} / ({plan.tensor} × {plan.pipeline})",
        of=lambda _: Fraction(plan.gpus, split),
        form="count",
        noun="ranks",
    )
    whole, shared = _groups(plan)
    yield Line(
        key="each",
        says=f"on a GPU: {_sum(whole)} + {_shared(shared)} / {{ranks}}",
        of=lambda values: each_of(whole) + each_of(shared) / values["ranks"],
        form="each",
        noun="bytes a parameter",
    )
    yield Line(
        key="states",
        says="model states: {parameters} × {each}",
        of=lambda values: values["parameters"] * values["each"],
    )
    yield Line(
        key="room",
        says=f"usable of a card: {plan.percent}% of {plan.said}",
        of=lambda _: Fraction(plan.memory * plan.percent, 100),
    )
    yield Line(
        key="left",
        says="left for all else: {room} - {states}",
        of=lambda values: values["room"] - values["states"],
    )


def _parameters(plan: Plan, said: str, split: int) -> Line:
    return Line(
        key="parameters",
        says=f"parameters on a GPU: {count(plan.parameters)} / {said}",
        of=lambda _: Fraction(plan.parameters, split),
        form="count",
    )


def _groups(plan: Plan) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts that every data-parallel rank holds, and those that they share."""
    whole = tuple(part for part in plan.parts if part.stage > plan.stage)
    return whole, tuple(part for part in plan.parts if part.stage <= plan.stage)


def _sum(parts: tuple[Part, ...]) -> str:
    return " + ".join(str(part.each) for part in parts)


def _shared(parts: tuple[Part, ...]) -> str:
    return f"({_sum(parts)})" if len(parts) > 1 else _sum(parts)


def _wrongs(plan: Plan) -> Iterator[WrongLine]:
    yield from _split_wrongs(plan)
    yield from _each_wrongs(plan)
    _, _, _, states, room, _ = _lines(plan)
    yield states.wrong(
        "parameters of the whole model",
        f"model states: {count(plan.parameters)} × {{each}}",
        lambda values: plan.parameters * values["each"],
        why="has all parameters; a GPU has a part of some of the layers, {off} less.",
        nudge="Whose parameters are these?",
    )
    yield room.wrong(
        "usable share forgotten",
        f"usable of a card: {plan.said}",
        lambda _: plan.memory,
        why=f"is the whole card; {plan.percent}% may be used, {{off}} less.",
        nudge="What of a card may be used?",
    )


def _split_wrongs(plan: Plan) -> Iterator[WrongLine]:
    parameters, ranks, *_ = _lines(plan)
    nudge = "Which of the degrees divide the parameters?"
    for said, split, name, why in (
        (f"{plan.tensor}", plan.tensor, "stages forgotten", "leaves the stages out, {off} less"),
        (f"{plan.pipeline}", plan.pipeline, "tensor parallelism forgotten",
         "leaves tensor parallelism out, {off} less"),
        (f"{plan.gpus}", plan.gpus, "divided by all GPUs",
         "divides by all GPUs; data-parallel ranks hold the same parameters, {off} more"),
    ):  # fmt: skip
        wrong = _parameters(plan, said, split)
        yield parameters.wrong(name, wrong.says, wrong.of, why=f"{why}.", nudge=nudge)
    yield ranks.wrong(
        "stages forgotten",
        f"data-parallel ranks: {plan.gpus} / {plan.tensor}",
        lambda _: Fraction(plan.gpus, plan.tensor),
        why=f"takes the {plan.pipeline} stages for replicas, {{off}} less.",
        nudge="Which GPUs hold the same part of the model?",
    )
    yield ranks.wrong(
        "all of the group",
        f"data-parallel ranks: {plan.gpus}",
        lambda _: plan.gpus,
        why="takes every GPU for a replica; a replica is a whole tensor and pipeline group, "
        "{off} less.",
        nudge="Which GPUs hold the same part of the model?",
    )


def _each_wrongs(plan: Plan) -> Iterator[WrongLine]:
    _, _, each, *_ = _lines(plan)
    whole, shared = _groups(plan)
    what = f"{STAGES[plan.stage]} {SHARDS[plan.stage]}"
    nudge = "What does this stage share, and what does it leave whole?"
    yield each.wrong(
        "ZeRO-3 (FSDP2) instead",
        f"on a GPU: {_shared((*whole, *shared))} / {{ranks}}",
        lambda values: each_of(plan.parts) / values["ranks"],
        why=f"shares all states; {what}: {{off}} more.",
        nudge=nudge,
    )
    yield each.wrong(
        "nothing sharded",
        f"on a GPU: {_sum((*whole, *shared))}",
        lambda _: each_of(plan.parts),
        why=f"shares nothing; {what}: {{off}} less.",
        nudge=nudge,
    )
    yield each.wrong(
        "whole states forgotten",
        f"on a GPU: {_shared(shared)} / {{ranks}}",
        lambda values: each_of(shared) / values["ranks"],
        why="is the shared states alone; the others lie whole on every rank, {off} more.",
        nudge=nudge,
    )
