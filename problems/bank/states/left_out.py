"""Topic A, model states: what an accounting that is heard leaves out."""

from collections.abc import Iterator
from fractions import Fraction

from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import Part, each_of, parts_of, size_of, sum_said
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import billions, gb, listed, paper, recipe_said, rounded, sentence, short
from problems.wrong_sizes import wrong_size


@kind(
    name="left-out",
    topic="A",
    level="mid",
    title="What an accounting of the states leaves out",
    sources=("jax-ml/scaling-book training.md", "arXiv 1910.02054 section 3.1"),
)
def left_out(draw: Draw) -> Draft | None:
    """Ask for the bytes between a sum that names some states and all states of the recipe."""
    (title, parameters), recipe = scenarios.any_parameters(draw), scenarios.states_recipe(draw)
    parts = parts_of(*recipe)
    if len(parts) < 3:
        return None
    named = draw.sample(parts, draw.between(1, len(parts) - 1))
    gone = tuple(part for part in parts if part not in named)
    said = tuple(part for part in parts if part in named)
    size, heard = size_of(gone, parameters), size_of(said, parameters)
    on_paper, each = rounded(parameters), each_of(gone)
    return one_size(
        prompt=(
            f"A note on {title} (P = {parameters:,} parameters) counts "
            f"{listed([_said(part) for part in said])}, and nothing else: {gb(heard)}. The run is "
            f"{recipe_said(*recipe)}, with nothing sharded.\nHow much of the model states does "
            "the note leave out?"
        ),
        size=size,
        hints=(
            (
                "Write down every tensor that has an entry for each parameter, and strike out "
                "those that the note names."
            ),
            f"What is missing: {listed([part.name for part in gone])}.",
            f"These are {sum_said(gone)} bytes for each of {billions(on_paper)} billion.",
        ),
        on_paper=(
            (
                f"{short(each)} of {short(each_of(parts))} bytes a parameter are missing: "
                f"{short(each_of(parts))} - {short(each_of(said))}"
            ),
            f"{billions(on_paper)} billion × {short(each)} = {paper(on_paper * each, digits=4)}",
        ),
        exact=(f"{sentence(part.name)}: {gb(size_of((part,), parameters))}" for part in gone),
        mistakes=_mistakes(gone, parts, parameters),
    )


def _said(part: Part) -> str:
    return f"{part.name} at {part.each} byte{'s' if part.each > 1 else ''} a parameter"


def _mistakes(gone: tuple[Part, ...], parts: tuple[Part, ...], count: int) -> Iterator[Mistake]:
    right = size_of(gone, count)
    for part in gone:
        if len(gone) > 1:
            rest = tuple(other for other in gone if other is not part)
            yield wrong_size(
                size_of(rest, count),
                right,
                f"{part.name} forgotten",
                f"leaves out the {part.name} too, {{off}}.",
            )
    for part in gone:
        other = Fraction(size_of((part,), count), 1 if part.each == 2 else 2)
        factor = 2 if part.each == 2 else 1
        yield wrong_size(
            right + (other if factor == 2 else -other),
            right,
            f"{part.name} in another width",
            f"has the {part.name} in another width; here they take {part.each} bytes a "
            "parameter, {off} apart from that.",
        )
    yield wrong_size(
        size_of(parts, count), right, "all states counted", "is all of the states, {off} too many."
    )
    named = tuple(part for part in parts if part not in gone)
    yield wrong_size(
        size_of(named, count),
        right,
        "what the note has",
        "is what the note counts; what it leaves out differs by {off}.",
    )
