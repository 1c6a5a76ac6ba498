"""Topic E, levers: how many GPUs hold the model states, worked out with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from engine.units import GB, GIB, count
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import Part, each_of, parts_of
from problems.repairs import STATES_FORGOTTEN, repair
from problems.wording import card, number, recipe_said
from problems.worked import Line, Of, Worked, WrongLine

NODE = scenarios.NODE
PERCENTS = (70, 75, 78, 80, 82, 85, 88, 90, 92, 95, 98, 100)
MOST_GPUS = 4096


@dataclass(frozen=True, kw_only=True)
class Sharded:
    """Model states that are shared by as few cards as hold them.

    Args:
        parameters: of the model.
        parts: of the states.
        memory: bytes of a card.
        said: how the driver or its name says the memory.
        percent: of it that may be used.
    """

    parameters: int
    parts: tuple[Part, ...]
    memory: int
    said: str
    percent: int


@kind(
    name="repair-gpus",
    topic="E",
    level="mid",
    title="The first wrong step to a number of GPUs",
    sources=(
        "damek/cs336-assignment2-systems, communication_accounting",
        "engineersofai.com, large-scale memory optimization",
    ),
)
def repair_gpus(draw: Draw) -> Draft | None:
    """Ask for the first wrong step from a model to the GPUs and nodes that hold its states."""
    model, recipe = scenarios.any_model(draw), scenarios.states_recipe(draw, zero=3)
    gpu = scenarios.gpu_for(draw, 2 * NODE, precision=recipe[0])
    sharded = Sharded(
        parameters=model.parameters,
        parts=parts_of(*recipe, fsdp=True),
        memory=gpu.memory,
        said=f"{number(gpu.memory_mib)} MiB",
        percent=draw.choice(PERCENTS),
    )
    if not NODE < nodes(sharded).values()["gpus"] <= MOST_GPUS:
        return None
    usable = "all" if sharded.percent == 100 else f"{sharded.percent}%"
    about = (
        f"{model.title} ({number(model.parameters)} parameters), "
        f"{recipe_said(*recipe, fsdp=True)}. "
        f"ZeRO-3 shards all model states; nothing else counts. The driver of one {card(gpu)} "
        f"reports {sharded.said}, of which {usable} may be used. Somebody works out on how few "
        f"GPUs the states fit, and how many that are in whole nodes of {NODE}."
    )
    return repair(draw, about, nodes(sharded), (*_wrongs(sharded),))


def nodes(sharded: Sharded) -> Worked:
    """Return the way from bytes a parameter to whole nodes."""
    return Worked(lines=(*_lines(sharded),))


def _lines(sharded: Sharded) -> Iterator[Line]:
    yield _each(sharded.parts)
    yield Line(
        key="states",
        says=f"model states: {{each}} × {count(sharded.parameters)} parameters",
        of=lambda values: values["each"] * sharded.parameters,
    )
    yield Line(
        key="room",
        says=f"usable of a card: {sharded.percent}% of {sharded.said}",
        of=lambda _: Fraction(sharded.memory * sharded.percent, 100),
    )
    yield Line(
        key="gpus",
        says="GPUs: {states} / {room}, rounded up",
        of=lambda values: ceil(values["states"] / values["room"]),
        form="count",
        noun="GPUs",
    )
    yield Line(
        key="nodes",
        says=f"in whole nodes of {NODE}: {{gpus}}, rounded up",
        of=lambda values: NODE * ceil(values["gpus"] / NODE),
        form="count",
        noun="GPUs",
    )


def _each(parts: tuple[Part, ...]) -> Line:
    return Line(
        key="each",
        says=f"states: {' + '.join(f'{part.each} ({part.name})' for part in parts)}",
        of=lambda _: each_of(parts),
        form="each",
        noun="bytes a parameter",
    )


def _wrongs(sharded: Sharded) -> Iterator[WrongLine]:
    yield from _each_wrongs(sharded)
    _, states, room, gpus, whole = _lines(sharded)
    yield states.wrong(
        "weights only",
        f"model states: 2 × {count(sharded.parameters)} parameters",
        lambda _: 2 * sharded.parameters,
        why="is the 16-bit weights alone, which serve the model; training it takes {off} more.",
        nudge="What does a GPU hold of a parameter that is trained?",
    )
    yield room.wrong(
        "usable share forgotten",
        f"usable of a card: {sharded.said}",
        lambda _: sharded.memory,
        why=f"is the whole card; {sharded.percent}% may be used, {{off}} less.",
        nudge="What of a card may hold states?",
    )
    yield from _gpu_wrongs(gpus)
    yield whole.wrong(
        "rounded down",
        f"in whole nodes of {NODE}: {{gpus}}, rounded down",
        lambda values: NODE * (values["gpus"] // NODE),
        why="holds fewer GPUs than the states need; the last node counts whole, {off} more.",
        nudge="May a GPU be missing, or one be left over?",
    )
    yield whole.wrong(
        "nodes for GPUs",
        f"in whole nodes of {NODE}: {{gpus}} / {NODE}, rounded up",
        lambda values: ceil(values["gpus"] / NODE),
        why=f"counts nodes; each has {NODE} GPUs, {{off}} more.",
        nudge="What is counted there, GPUs or nodes?",
    )


def _each_wrongs(sharded: Sharded) -> Iterator[WrongLine]:
    nudge = "Which states has a parameter, and how wide is each of them?"
    for part in sharded.parts:
        rest = tuple(other for other in sharded.parts if other != part)
        if rest and part.name in STATES_FORGOTTEN:
            yield _each(sharded.parts).wrong(
                f"{part.name} forgotten",
                _each(rest).says,
                _each(rest).of,
                why=f"{STATES_FORGOTTEN[part.name]}.",
                nudge=nudge,
            )
        if part.name == "moments":
            one = Part(name="moment", each=part.each // 2, stage=part.stage)
            yield _each(sharded.parts).wrong(
                "one moment forgotten",
                _each((*rest, one)).says,
                _each((*rest, one)).of,
                why="has one moment; AdamW keeps two, {off} more.",
                nudge=nudge,
            )


def _gpu_wrongs(gpus: Line) -> Iterator[WrongLine]:
    for name, factor, why in (
        ("GiB typed as GB", Fraction(GB, GIB), "divides GiB by GB; in one unit it is {off} more"),
        ("GB typed as GiB", Fraction(GIB, GB), "divides GB by GiB; in one unit it is {off} less"),
    ):
        yield gpus.wrong(
            name, gpus.says, _fitted(factor), why=f"{why}.", nudge="Are both in one unit?"
        )
    yield gpus.wrong(
        "rounded down",
        gpus.says.replace("up", "down"),
        lambda values: values["states"] // values["room"],
        why="leaves a part of the states without a GPU, so it takes {off} more.",
        nudge="What if the quotient is no whole number?",
    )


def _fitted(factor: Fraction) -> Of:
    return lambda values: ceil(values["states"] * factor / values["room"])
