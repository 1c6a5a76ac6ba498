"""Topic A: the bytes that a parameter takes, all of its states or those that a stage shards."""

from collections.abc import Iterator
from fractions import Fraction

from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import (
    Change,
    Part,
    changes,
    each_of,
    parts_of,
    sum_said,
)
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.wording import (
    bytes_of,
    listed,
    recipe_said,
    short,
)

ASKED = {
    "all": ("model states", ("weights", "gradients", "master copy", "moments", "momentum")),
    "zero-2": (
        "what ZeRO-2 shards (gradients and everything that the optimizer holds)",
        ("gradients", "master copy", "moments", "momentum"),
    ),
    "zero-1": (
        "what ZeRO-1 shards (everything that the optimizer holds)",
        ("master copy", "moments", "momentum"),
    ),
}


@kind_at_levels(
    name="bytes-per-parameter",
    topic="A",
    levels=("junior", "mid"),
    title="Bytes of model states per parameter",
    sources=(
        "arXiv 1910.02054 section 3.1",
        "NVIDIA/Megatron-LM#188",
    ),
    allows={"spread": "no usual recipe takes less than 4 bytes or more than 18"},
)
def bytes_per_parameter(draw: Draw, level: Level) -> Draft | None:
    """Ask for the bytes that a recipe costs for each parameter, all of them or a part of them."""
    model, recipe, part = draw.unlike(
        lambda: (
            scenarios.any_model(draw),
            scenarios.states_recipe(draw),
            "all" if level == "junior" else draw.choice(("zero-2", "zero-1")),
        ),
        lambda figures: (figures[0].name, *figures[1:]),
    )
    asked, names = ASKED[part]
    whole = parts_of(*recipe)
    parts = tuple(part for part in whole if part.name in names)
    return of_parts(model.title, recipe, asked, parts) if len(parts) > 1 else None


def of_parts(
    title: str,
    recipe: tuple[str, str],
    asked: str,
    parts: tuple[Part, ...],
    *,
    fsdp: bool = False,
) -> Draft:
    """Return the question for the bytes a parameter of some of the states of a recipe.

    Args:
        title: of the model.
        recipe: precision and optimizer.
        asked: the states, as the prompt has them.
        parts: these, two or more.
        fsdp: they lie in FSDP2's shards.
    """
    whole, answer = parts_of(*recipe, fsdp=fsdp), each_of(parts)
    wrong = (*other_parts(whole, parts), *changes(parts, recipe[0]))
    return Draft(
        prompt=render(
            "bytes-per-parameter",
            title=title,
            recipe=recipe_said(*recipe, fsdp=fsdp),
            asked=asked,
        ),
        answer=QuantityAnswer(value=answer, default_unit="B"),
        hints=(
            "Count every tensor that has one entry for each parameter.",
            (
                f"Here these are {listed([part.name for part in parts])}. An fp32 entry takes "
                "four bytes, a 16-bit one two."
            ),
            f"Add the bytes up: {sum_said(parts)}.",
        ),
        solution=tuple(_added_up(parts, answer)),
        mistakes=tuple(_each_mistaken(change, parts) for change in wrong),
    )


def _added_up(parts: tuple[Part, ...], each: Fraction) -> Iterator[Step]:
    yield Step(text=f"{sum_said(parts)} = {short(each)}", depth="whiteboard")
    for part in sorted(parts, key=lambda part: -part.each):
        yield Step(text=f"{part.name}: {bytes_of(part.each)}")
    yield Step(text=f"Nothing is rounded on paper, so no difference is left: {short(each)}")


def _each_mistaken(change: Change, right: tuple[Part, ...]) -> Mistake:
    """Return the bytes of a parameter with other parts than those that are right."""
    wrong = each_of(change.parts)
    off = bytes_of(abs(wrong - each_of(right)))
    return Mistake(
        name=change.name,
        value=wrong,
        feedback=f"{short(wrong)} {change.why.format(missing=off)}",
        moves=change.moves(right),
    )


def other_parts(whole: tuple[Part, ...], asked: tuple[Part, ...]) -> Iterator[Change]:
    """Yield what comes of counting states that were not asked for, or only some that were."""
    # The gradients first: they are the nearest to what the optimizer holds.
    more = [part for part in whole if part not in asked]
    for part in sorted(more, key=lambda part: part.stage):
        yield Change(
            name=f"{part.name} counted",
            parts=(*asked, part),
            why=f"counts the {part.name} too, {{missing}} more: they are sharded from "
            f"ZeRO-{part.stage} on.",
        )
    yield Change(
        name="all states counted",
        parts=whole,
        why="counts all model states, {missing} more than what was asked.",
    )
