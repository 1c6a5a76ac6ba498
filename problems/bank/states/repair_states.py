"""Topic A, model states: the states on a GPU under a ZeRO stage, with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.units import GB, GIB, count
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import SHARDS, STAGES, Part, each_of, parts_of, size_of
from problems.problem import Level
from problems.repairs import STATES_FORGOTTEN, repair
from problems.wording import card, number, recipe_said
from problems.worked import Line, Worked, WrongLine

PERCENTS = (80, 85, 90, 95)
EACH = "bytes a parameter"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model under a recipe, sharded by a ZeRO stage over some GPUs."""

    parameters: int
    recipe: tuple[str, str]
    gpu: Accelerator
    percent: int
    stage: int
    ranks: int

    @property
    def parts(self) -> tuple[Part, ...]:
        """The model states."""
        return parts_of(*self.recipe)

    @property
    def whole(self) -> tuple[Part, ...]:
        """What each GPU has all of."""
        return tuple(part for part in self.parts if part.stage > self.stage)

    @property
    def split(self) -> tuple[Part, ...]:
        """What the GPUs share."""
        return tuple(part for part in self.parts if part.stage <= self.stage)

    @property
    def size(self) -> int:
        """Bytes of the states on one GPU."""
        return size_of(self.parts, self.parameters, self.stage, self.ranks)

    @property
    def room(self) -> int:
        """Bytes of a card that may be used."""
        return self.gpu.memory * self.percent // 100


@kind_at_levels(
    name="repair-states",
    topic="A",
    levels=("mid", "senior"),
    title="The first wrong step of the model states on a GPU",
    sources=(
        "harvard-edge/cs249r_book StaffML, cloud/02_distributed_systems.md",
        "engineersofai.com, large-scale memory optimization",
    ),
)
def repair_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the first wrong step of the states that a ZeRO stage leaves on each GPU."""
    model, recipe = scenarios.any_model(draw), scenarios.states_recipe(draw)
    ranks = scenarios.ranks_for(draw, model)
    case = Case(
        parameters=model.parameters,
        recipe=recipe,
        gpu=scenarios.gpu_for(draw, ranks, precision=recipe[0]),
        percent=draw.choice(PERCENTS),
        stage=draw.choice((1, 2)),
        ranks=ranks,
    )
    if not case.split or (level == "senior" and case.size > case.room * 9 // 10):
        return None
    about = (
        f"{model.title} ({number(model.parameters)} parameters) is trained with "
        f"{recipe_said(*recipe)}. {STAGES[case.stage]} over {ranks} GPUs {SHARDS[case.stage]}. "
        "Somebody works out the model states on each GPU"
    )
    lines, wrongs = [*shares(case)], [*_share_wrongs(case)]
    if level == "mid":
        about = f"{about}, in GB and in GiB."
        lines.append(_in_gib())
        wrongs.extend(_gib_wrongs())
    else:
        about = (
            f"{about} and what they leave of a card, the {card(case.gpu)}: its driver reports "
            f"{number(case.gpu.memory_mib)} MiB, of which {case.percent}% may be used."
        )
        lines.extend(_rooms(case))
        wrongs.extend(_room_wrongs(case))
    return repair(draw, about, Worked(lines=tuple(lines)), wrongs)


def shares(case: Case) -> Iterator[Line]:
    """Yield the lines up to what a GPU has of the states."""
    ranks, parameters = case.ranks, case.parameters
    yield _each_line("whole", "whole on each GPU", case.whole)
    yield _each_line("split", f"shared by the {ranks} GPUs", case.split)
    yield Line(
        key="each",
        says=f"on a GPU: {{whole}} + {{split}} / {ranks}",
        of=lambda values: values["whole"] + values["split"] / ranks,
        form="each",
        noun=EACH,
    )
    yield Line(
        key="size",
        says=f"model states: {{each}} × {count(parameters)} parameters",
        of=lambda values: values["each"] * parameters,
    )


def _each_line(key: str, where: str, parts: tuple[Part, ...]) -> Line:
    said = " + ".join(f"{part.each} ({part.name})" for part in parts)
    return Line(
        key=key,
        says=f"{where}: {said}",
        of=lambda _: each_of(parts),
        form="each",
        noun=EACH,
    )


def _share_wrongs(case: Case) -> Iterator[WrongLine]:
    groups = (
        ("whole", "whole on each GPU", case.whole),
        ("split", f"shared by the {case.ranks} GPUs", case.split),
    )
    for key, where, parts in groups:
        yield from _group_wrongs(key, where, parts)
    ranks, stage = case.ranks, case.stage
    _, _, each, size = shares(case)
    what = f"{STAGES[stage]} {SHARDS[stage]}"
    nudge = "What does this stage shard, and what does it leave whole?"
    yield each.wrong(
        "ZeRO-3 (FSDP2) instead",
        f"on a GPU: ({{whole}} + {{split}}) / {ranks}",
        lambda values: (values["whole"] + values["split"]) / ranks,
        why=f"shares all states; {what}: {{off}} more.",
        nudge=nudge,
    )
    yield each.wrong(
        "nothing sharded",
        "on a GPU: {whole} + {split}",
        lambda values: values["whole"] + values["split"],
        why=f"shares nothing; {what}: {{off}} less.",
        nudge=nudge,
    )
    yield size.wrong(
        "all GPUs together",
        f"{size.says} × {ranks}",
        lambda values: size.of(values) * ranks,
        why=f"is what all {ranks} GPUs hold; one of them is asked for, {{off}} less.",
        nudge="Is each number that of one GPU?",
    )


def _group_wrongs(key: str, where: str, parts: tuple[Part, ...]) -> Iterator[WrongLine]:
    """Yield the mistakes in the bytes a parameter of some of the states."""
    nudge = "Which of the states are whole on each GPU, which are shared, and how wide are they?"
    for part in parts:
        rest = tuple(other for other in parts if other != part)
        if rest:
            yield WrongLine(
                name=f"{part.name} forgotten",
                line=_each_line(key, where, rest),
                why=f"{STATES_FORGOTTEN[part.name]}.",
                nudge=nudge,
            )
        if part.name == "moments":
            one = Part(name="moment", each=part.each // 2, stage=part.stage)
            yield WrongLine(
                name="one moment forgotten",
                line=_each_line(key, where, (*rest, one)),
                why="has one moment; AdamW keeps two, {off} more.",
                nudge=nudge,
            )


def _in_gib() -> Line:
    return Line(
        key="gib",
        says="in GiB of 2^30 bytes: {size}",
        of=lambda values: values["size"],
        form="GiB",
    )


def _gib_wrongs() -> Iterator[WrongLine]:
    ratio = Fraction(GIB, GB)
    yield _in_gib().wrong(
        "GB typed as GiB",
        _in_gib().says,
        lambda values: values["size"] * ratio,
        why="has the digits of the GB; a GiB is 7.4% more than a GB, so there are {off} fewer.",
        nudge="Which is the larger unit, a GB or a GiB?",
    )
    yield _in_gib().wrong(
        "the conversion upside down",
        _in_gib().says,
        lambda values: values["size"] * ratio**2,
        why="multiplies where a GiB is the larger unit, so there are {off} fewer.",
        nudge="Which is the larger unit, a GB or a GiB?",
    )


def _rooms(case: Case) -> Iterator[Line]:
    memory, percent = case.gpu.memory, case.percent
    yield Line(
        key="room",
        says=f"usable: {percent}% of {number(case.gpu.memory_mib)} MiB",
        of=lambda _: Fraction(memory * percent, 100),
    )
    yield Line(
        key="left",
        says="left for all else: {room} - {size}",
        of=lambda values: values["room"] - values["size"],
    )


def _room_wrongs(case: Case) -> Iterator[WrongLine]:
    room, _ = _rooms(case)
    memory = case.gpu.memory
    yield room.wrong(
        "usable share forgotten",
        f"usable: {number(case.gpu.memory_mib)} MiB",
        lambda _: memory,
        why=f"is the whole card; {case.percent}% of it may be used, {{off}} less.",
        nudge="What of the card may be used?",
    )
