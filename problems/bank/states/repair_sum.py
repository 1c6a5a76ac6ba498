"""Topic A, model states: their sum on one GPU, with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.units import count
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import Part, parts_of
from problems.repairs import STATES_FORGOTTEN, repair
from problems.wording import bytes_of, number, recipe_said
from problems.worked import Line, Worked, WrongLine


@dataclass(frozen=True, kw_only=True)
class Run:
    """A model of so many parameters under a recipe, whole on one GPU, and the order of its sum."""

    parameters: int
    recipe: tuple[str, str]
    parts: tuple[Part, ...]


@kind(
    name="repair-sum",
    topic="A",
    level="junior",
    title="The first wrong step of a sum of model states",
    sources=(
        "distillprep.com/generative-ai/peft",
        "wdndev/llm_interview_note",
        "threadreaderapp.com, a post on fine-tuning a 70B model",
    ),
)
def repair_sum(draw: Draw) -> Draft | None:
    """Ask for the first wrong step of model states that were added up by hand."""
    model = scenarios.any_model(draw)
    recipe = scenarios.states_recipe(draw)
    parts = parts_of(*recipe)
    parts = draw.sample(parts, len(parts))
    run = Run(parameters=model.parameters, recipe=recipe, parts=parts)
    about = (
        f"{model.title} ({number(run.parameters)} parameters) is trained with "
        f"{recipe_said(*run.recipe)}. Nothing is sharded: somebody adds up all of its model "
        "states, counted as if one GPU held them."
    )
    return repair(draw, about, summed(run), (*_sum_wrongs(run),))


def summed(run: Run) -> Worked:
    """Return the sum of the states, part by part."""
    parts = (_part_line(run, part.name, part.each) for part in run.parts)
    return Worked(lines=(*parts, _total(part.name for part in run.parts)))


def _part_line(run: Run, name: str, each: int) -> Line:
    parameters = run.parameters
    return Line(
        key=name,
        says=f"{name}: {bytes_of(each)} × {count(parameters)} parameters",
        of=lambda _: each * parameters,
    )


def _total(names: Iterator[str]) -> Line:
    added = tuple(names)
    said = " + ".join(f"{{{name}}}" for name in added)
    return Line(
        key="total",
        says=f"model states: {said}",
        of=lambda values: sum((values[name] for name in added), Fraction(0)),
    )


def _sum_wrongs(run: Run) -> Iterator[WrongLine]:
    names = [part.name for part in run.parts]
    for part in run.parts:
        for each, name, why in _widths(run, part):
            yield WrongLine(
                name=name,
                line=_part_line(run, part.name, each),
                why=f"{why}.",
                nudge="How many bytes wide is each of the states, and how many of each are there?",
            )
        if len(names) > 2:
            yield WrongLine(
                name=f"{part.name} forgotten",
                line=_total(name for name in names if name != part.name),
                why=f"{STATES_FORGOTTEN[part.name]}.",
                nudge="Is every state in the sum, once?",
            )


def _widths(run: Run, part: Part) -> Iterator[tuple[int, str, str]]:
    """Yield other widths that a part is taken to have, the mistake's name and what it is."""
    wide = part.each // (2 if part.name == "moments" else 1) == 4
    bits = ("16", "32") if wide else ("32", "16")
    other = part.each // 2 if wide else 2 * part.each
    what = {"moments": "optimizer states", "momentum": "optimizer states"}.get(
        part.name, part.name
    )
    why = f"has the {part.name} in {bits[0]} bits; here they are {bits[1]} bits wide"
    if part.name == "master copy":
        why = "has the master copy in 16 bits; it is fp32"
    name = f"{what} in {bits[0]} bits"
    if name == "weights in 16 bits":
        name = "fp32 weights in 16 bits"
    yield other, name, f"{why}, {{off}} {'more' if wide else 'less'}"
    if part.name == "moments":
        yield part.each // 2, "one moment forgotten", "has one moment; AdamW keeps two, {off} more"
    if run.recipe[0] != "fp32" and part.name == "weights" and not wide:
        yield 1, "elements taken for bytes", "counts elements; each has 2 bytes, {off} more"
