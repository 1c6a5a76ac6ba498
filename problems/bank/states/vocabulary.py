"""Topic A, model states: the share of the vocabulary."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.architecture import Architecture
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import changes, each_of, parts_of, size_of, sum_said
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import billions, gb, number, paper, recipe_said, rounded, short
from problems.wrong_sizes import wrong_size

# Rows that fine-tuning adds to a vocabulary.
ADDED = (0, 0, 0, 64, 128, 256, 512, 1000, 1024, 2000, 2048, 4096, 5000, 8192, 10000, 16384, 20000)


@kind(
    name="vocabulary-states",
    topic="A",
    level="mid",
    title="Model states of embedding and head",
    sources=(
        "arXiv 1910.02054 section 3.1",
        "stas00/ml-engineering training/performance/README.md",
    ),
)
def vocabulary_states(draw: Draw) -> Draft:
    """Ask for the model states of the tensors that have a row for each entry of the vocabulary."""
    model, recipe, added = draw.unlike(
        lambda: (scenarios.any_model(draw), scenarios.states_recipe(draw), draw.choice(ADDED)),
        lambda figures: (figures[0].name, *figures[1:]),
    )
    a = replace(model.architecture, vocab=model.architecture.vocab + added)
    parameters, parts = of_vocabulary(a), parts_of(*recipe)
    size = size_of(parts, parameters)
    tied = "tied, so that embedding and head are one matrix" if a.tied else "not tied"
    matrices = "" if a.tied else "2 × "
    product = f"{matrices}{number(a.vocab)} × {number(a.hidden)}"
    each, on_paper = each_of(parts), rounded(parameters)
    return one_size(
        prompt=(
            f"{model.title}{_added(a.vocab - model.architecture.vocab)}: P = "
            f"{number(a.parameters)} parameters, vocabulary V = {number(a.vocab)}, "
            f"h = {number(a.hidden)}, head {tied}. "
            f"{recipe_said(*recipe)}. Nothing is sharded.\nHow much of the model states "
            "belongs to embedding and head?"
        ),
        size=size,
        hints=(
            "Which matrices have a row for each entry of the vocabulary, and how many are there?",
            f"They have {product} parameters, and each of these has its states.",
            f"Multiply {billions(on_paper)} billion parameters by {sum_said(parts)} bytes.",
        ),
        on_paper=(
            f"{product} = {billions(on_paper)} billion parameters",
            f"{billions(on_paper)} billion × {short(each)} = {paper(on_paper * each, digits=4)}",
        ),
        exact=(
            (
                f"{number(parameters)} of {number(a.parameters)} parameters are "
                f"{100 * parameters / a.parameters:.1f}%"
            ),
            f"{number(parameters)} × {short(each)} bytes",
        ),
        mistakes=_mistakes(a, recipe, size),
    )


def of_vocabulary(architecture: Architecture) -> int:
    """Return the parameters of the matrices with a row for each entry of the vocabulary."""
    matrices = [t for t in architecture.tensors if t.name in {"embedding", "head"}]
    return sum(matrix.size for matrix in matrices)


def _added(rows: int) -> str:
    return f" with {number(rows)} tokens added to its vocabulary" if rows else ""


def _mistakes(a: Architecture, recipe: tuple[str, str], size: int) -> Iterator[Mistake]:
    parameters, parts = of_vocabulary(a), parts_of(*recipe)
    if a.tied:
        yield wrong_size(
            2 * size,
            size,
            "head counted twice",
            "has two matrices; embedding and head are one here, {off} less.",
        )
    else:
        yield wrong_size(
            Fraction(size, 2),
            size,
            "head forgotten",
            "is the embedding alone; the head has as many parameters, {off} more.",
        )
    for change in changes(parts, recipe[0]):
        wrong = size_of(change.parts, parameters)
        yield Mistake(
            name=change.name,
            value=Fraction(wrong),
            feedback=f"{gb(wrong)} {change.why.format(missing=gb(abs(wrong - size)))}",
            moves=change.moves(parts),
        )
    whole = size_of(parts, a.parameters)
    yield wrong_size(
        whole, size, "all states counted", "is the states of the whole model, {off} too many."
    )
