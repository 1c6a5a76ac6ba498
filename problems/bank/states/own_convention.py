"""Topic A, model states: a breakdown of a number of bytes a parameter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from problems import scenarios
from problems.answers.breakdown import TENSORS, BreakdownAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import billions, gb, paper, rounded, short

SAYS = (
    "A lecture",
    "A paper",
    "A framework's estimator",
    "A blog post",
    "A colleague",
    "A spreadsheet",
    "A vendor's guide",
    "A candidate",
    "A forum post",
    "A course",
    "An interviewer",
    "A slide",
    "A README",
    "A calculator on the web",
    "A cost estimate",
    "A ticket",
    "A newsletter",
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A run whose states are so many bytes a parameter.

    Args:
        says: the run, as a question says it.
        parts: its tensors, bytes a parameter.
        why: what sets it apart.
        source: where it is counted so.
    """

    says: str
    parts: Mapping[str, int]
    why: str
    source: str

    @property
    def total(self) -> int:
        """Bytes a parameter."""
        return sum(self.parts.values())


def _recipe(says: str, why: str, source: str, widths: tuple[int, int, int, int]) -> Recipe:
    parts = {name: each for name, each in zip(TENSORS, widths, strict=True) if each}
    return Recipe(says=says, parts=parts, why=why, source=source)


RECIPES = {
    "mid": (
        _recipe(
            "AdamW in mixed precision",
            "the optimizer's side is fp32: a copy of the weights and two moments",
            "arXiv 1910.02054 section 3.1",
            (2, 2, 4, 8),
        ),
        _recipe(
            "AdamW in fp32",
            "everything is fp32, so that no copy is needed",
            "stanford-cs336/lectures#3",
            (4, 4, 0, 8),
        ),
        _recipe(
            "AdamW with every state in bf16",
            "each of four tensors has 2 bytes",
            "pytorch/torchtune README, bf16 recipes",
            (2, 2, 0, 4),
        ),
        _recipe(
            "AdamW in mixed precision on a framework that accumulates gradients in fp32",
            "the gradients are fp32, 2 bytes more than the usual 16",
            "NVIDIA/Megatron-LM#654",
            (2, 4, 4, 8),
        ),
    ),
    "senior": (
        _recipe(
            "AdamW in mixed precision, which counts 16-bit gradients and an fp32 copy of them",
            "gradients are there twice: 2 bytes from the backward pass, 4 where they are added up",
            "AI-Hypercomputer/maxtext#606",
            (2, 6, 4, 8),
        ),
        _recipe(
            "SGD with momentum in mixed precision, gradients accumulated in fp32",
            "one momentum takes the place of two moments",
            "NVIDIA/Megatron-LM#654, with one state",
            (2, 4, 4, 4),
        ),
        _recipe(
            "SGD with momentum in mixed precision",
            "one momentum takes the place of two moments",
            "arXiv 1910.02054 section 3.1, with one state",
            (2, 2, 4, 4),
        ),
        _recipe(
            "8-bit AdamW in mixed precision with an fp32 master copy",
            "two moments of a byte each, blocks' scales left out",
            "arXiv 2110.02861",
            (2, 2, 4, 2),
        ),
        _recipe(
            "8-bit AdamW in fp32",
            "two moments of a byte each, blocks' scales left out",
            "arXiv 2110.02861",
            (4, 4, 0, 2),
        ),
    ),
}


@kind_at_levels(
    name="own-convention",
    topic="A",
    levels=("mid", "senior"),
    title="A breakdown of the bytes of a parameter",
    sources=("NVIDIA/Megatron-LM#654", "AI-Hypercomputer/maxtext#606"),
)
def own_convention(draw: Draw, level: Level) -> Draft:
    """Ask which tensors add up to a number of bytes a parameter."""
    model, recipe = scenarios.any_model(draw), draw.choice(RECIPES[level])
    size = recipe.total * model.parameters
    return Draft(
        prompt=render(
            "own-convention",
            who=draw.choice(SAYS),
            model=model,
            gpu=scenarios.gpu_for(draw, 8, precision="pure-bf16"),
            many=draw.choice((8, 16, 24, 32, 48, 64, 96, 128)),
            recipe=recipe,
            size=gb(size),
        ),
        answer=BreakdownAnswer(total=recipe.total, example=recipe.parts),
        hints=(
            "Which tensors have an entry for each parameter from one step to the next?",
            "An fp32 entry takes 4 bytes, a 16-bit one 2, an 8-bit one 1; Adam keeps two moments.",
            f"What sets this run apart: {recipe.why}.",
        ),
        solution=tuple(_steps(recipe, model.parameters)),
        mistakes=(),
    )


def _steps(recipe: Recipe, parameters: int) -> Iterator[Step]:
    size = recipe.total * parameters
    yield Step(
        text=f"{paper(size)} / {billions(rounded(parameters))} billion parameters is "
        f"{recipe.total} bytes each",
        depth="whiteboard",
    )
    yield Step(text=recipe.why, depth="whiteboard")
    for name, each in recipe.parts.items():
        yield Step(text=f"{name}: {short(each)} bytes a parameter, {gb(each * parameters)}")
    added = " + ".join(f"{each} {name}" for name, each in recipe.parts.items())
    yield Step(text=f"one that is right: {added} = {recipe.total}")
