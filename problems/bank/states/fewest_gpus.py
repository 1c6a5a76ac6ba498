"""Topic A, model states: the fewest GPUs that hold them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from engine.accelerator import Accelerator
from engine.units import MB
from problems import scenarios
from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import SHARDS, STAGES, Part, changes, each_of, parts_of
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.wording import (
    bare_gb,
    billions,
    card,
    gb,
    gib,
    number,
    paper,
    recipe_said,
    rounded,
    short,
)

# One GPU or two leave no room for a mistake, hundreds would take more digits than paper has.
FEWEST, MOST = 3, 99


@dataclass(frozen=True, kw_only=True)
class Fit:
    """States to be spread over as few GPUs as hold them."""

    parts: tuple[Part, ...]
    parameters: int
    stage: int
    room: int

    @property
    def whole(self) -> int:
        """Bytes that every GPU holds."""
        return self.parameters * sum(p.each for p in self.parts if p.stage > self.stage)

    @property
    def split(self) -> int:
        """Bytes that the GPUs share."""
        return self.parameters * sum(p.each for p in self.parts if p.stage <= self.stage)

    @property
    def left(self) -> int:
        """Bytes of a GPU that the whole parts leave."""
        return self.room - self.whole

    @property
    def gpus(self) -> int:
        """Fewest GPUs, 0 where no number suffices."""
        return max(-(-self.split // self.left), 1) if self.left > 0 else 0


@kind_at_levels(
    name="fewest-gpus",
    topic="A",
    levels=("junior", "mid"),
    title="Fewest GPUs that hold the model states",
    sources=(
        "arXiv 1910.02054 section 3.1",
        "stas00/ml-engineering training/performance/README.md",
    ),
    allows={
        "spread": "a GPU or two leave no room for a mistake, hundreds take too many digits",
    },
)
def fewest_gpus(draw: Draw, level: Level) -> Draft | None:
    """Ask for the fewest GPUs whose usable memory holds the states under a ZeRO stage.

    At junior level they share all of them.
    """
    model, stage = scenarios.any_model(draw), draw.weighted(((1, 2), (2, 2), (3, 5)))
    recipe = scenarios.states_recipe(draw, zero=stage)
    gpu = scenarios.gpu_for(draw, scenarios.NODE, precision=recipe[0])
    percent = draw.choice((70, 75, 80, 85, 90, 95, 100))
    fit = Fit(
        parts=parts_of(*recipe, fsdp=stage == 3),
        parameters=model.parameters,
        stage=stage,
        room=gpu.memory * percent // 100,
    )
    if (stage == 3) != (level == "junior") or not _is_clear(fit):
        return None
    prompt = render(
        "fewest-gpus",
        model=model,
        gpu=gpu,
        percent=percent,
        stage=STAGES[stage],
        recipe=recipe_said(*recipe, fsdp=stage == 3),
    )
    return Draft(
        prompt=prompt,
        answer=CountAnswer(value=fit.gpus, noun="GPUs"),
        hints=(
            f"First in bytes: what may one {card(gpu)} hold? A MiB is 2^20 bytes.",
            (
                f"{STAGES[stage]} {SHARDS[stage]}. Each GPU may hold {gb(fit.room)}; the sharded "
                f"parts are {gb(fit.split)} in all."
            ),
            _last_hint(fit),
        ),
        solution=tuple(_fewest_steps(fit, gpu, percent)),
        mistakes=tuple(_fewest_mistakes(fit, recipe, gpu, percent)),
    )


def _last_hint(fit: Fit) -> str:
    if not fit.whole:
        return f"Nothing is whole: divide the sharded bytes by the {gb(fit.room)}, and round up."
    return (
        f"Divide the sharded bytes by the {gb(fit.left)} that the whole parts leave on each GPU, "
        "and round up."
    )


def _is_clear(fit: Fit) -> bool:
    """Return whether 1% of rounding on paper leaves the number of GPUs as it is."""
    if not FEWEST <= fit.gpus <= MOST:
        return False
    low, high = (
        -(-fit.split * percent // (100 * (fit.left - step * fit.whole // 100)))
        if fit.left > step * fit.whole // 100
        else 0
        for percent, step in ((99, -1), (101, 1))
    )
    return low == high


def _fewest_steps(fit: Fit, gpu: Accelerator, percent: int) -> Iterator[Step]:
    for text in _on_paper(fit, gpu, percent):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"usable: {_usable(gpu, percent)} = {gb(fit.room)} = {gib(fit.room)}")
    for part in sorted(fit.parts, key=lambda part: -part.each):
        shared = "shared by all GPUs" if part.stage <= fit.stage else "on each GPU"
        size = part.each * fit.parameters
        yield Step(
            text=f"{part.name}: {part.each} × {number(fit.parameters)} = {gb(size)}, {shared}"
        )
    yield Step(
        text=f"With nothing rounded: {gb(fit.split)} / {gb(fit.left)} = "
        f"{fit.split / fit.left:.2f}, and up to whole GPUs {fit.gpus}"
    )


def _on_paper(fit: Fit, gpu: Accelerator, percent: int) -> Iterator[str]:
    whole = each_of(tuple(p for p in fit.parts if p.stage > fit.stage))
    split = each_of(tuple(p for p in fit.parts if p.stage <= fit.stage))
    parameters = rounded(fit.parameters)
    yield f"sharded: {short(split)} × {billions(parameters)} billion = {paper(split * parameters)}"
    yield f"room on each GPU: {_usable(gpu, percent)} = {paper(fit.room)}"
    left = fit.room
    if whole:
        size = int(whole * parameters)
        left -= size
        yield f"whole on each GPU: {short(whole)} × {billions(parameters)} billion = {paper(size)}"
        yield f"which leaves {bare_gb(fit.room)} - {bare_gb(size)} = {paper(left)}"
    quotient = Fraction(split * parameters, left)
    yield (
        f"{bare_gb(split * parameters)} / {bare_gb(left)} = {float(quotient):.2f}, "
        f"up to {ceil(quotient)}"
    )


def _usable(gpu: Accelerator, percent: int) -> str:
    all_of_it = f"{number(gpu.memory_mib)} MiB"
    return all_of_it if percent == 100 else f"{percent}% of {all_of_it}"


def _fewest_mistakes(
    fit: Fit, recipe: tuple[str, str], gpu: Accelerator, percent: int
) -> Iterator[Mistake]:
    whole = f": {gb(fit.whole)} on every GPU" if fit.whole else ""
    for stage in (3, 2, 1):
        yield from _count(
            replace(fit, stage=stage, parts=parts_of(*recipe, fsdp=stage == 3)),
            f"{STAGES[stage]} instead",
            f"would do under {STAGES[stage]}, which {SHARDS[stage]}. {STAGES[fit.stage]} "
            f"{SHARDS[fit.stage]}{whole}.",
        )
    yield from _count(
        replace(fit, room=gpu.memory),
        "usable share forgotten",
        f"would do if all {gb(gpu.memory)} of a GPU were free for states; {percent}% is "
        f"{gb(fit.room)}.",
    )
    yield from _count(
        replace(fit, room=gpu.memory_mib * MB * percent // 100),
        "MiB taken for MB",
        f"comes of {number(gpu.memory_mib)} MiB read as MB. In bytes it is {gb(gpu.memory)}, and "
        f"{percent}% of that is {gb(fit.room)}.",
    )
    for change in changes(fit.parts, recipe[0]):
        wrong = replace(fit, parts=change.parts)
        missing = gb(abs(wrong.whole + wrong.split - fit.whole - fit.split))
        yield from _count(wrong, change.name, change.why.format(missing=missing))


def _count(fit: Fit, name: str, why: str) -> Iterator[Mistake]:
    if fit.gpus:
        yield Mistake(
            name=name,
            value=Fraction(fit.gpus),
            feedback=f"{fit.gpus} {'GPU' if fit.gpus == 1 else 'GPUs'}: that {why}",
        )
