"""Topic C, everything else: quantised copies that wait for the backward pass."""

from collections.abc import Iterator
from fractions import Fraction

from engine.architecture import Architecture
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import billions, gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

RANKS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
# Elements under one fp32 scale: of a tile of 128 by 128, of a row of so many, of a whole tensor.
SCALED = {"a block of 128 × 128": 128 * 128, "128 elements": 128, "32 elements": 32}


@kind(
    name="quantised-copies",
    topic="C",
    level="senior",
    title="FP8 copies that stay until the backward pass",
    sources=("NVIDIA/TransformerEngine#2681", "arXiv 2412.19437 section 3.3"),
)
def quantised_copies(draw: Draw) -> Draft:
    """Ask for the FP8 copies of all layers' matrices that each rank of FSDP has whole."""
    model, ranks, block = draw.unlike(
        lambda: (scenarios.any_model(draw), draw.choice(RANKS), draw.choice(tuple(SCALED))),
        lambda figures: (figures[0].name, *figures[1:]),
    )
    matrices = elements_of(model.architecture)
    scales = 4 * (matrices // SCALED[block])
    size, count = matrices + scales, rounded(matrices)
    extra = Fraction(4, SCALED[block])
    return one_size(
        prompt=(
            f"{model.title} ({number(model.parameters)} parameters, of which "
            f"{number(matrices)} in the matrices of its layers) is trained in FP8 under full "
            f"sharding over {ranks} GPUs. In the forward pass each layer's matrices are gathered "
            f"and quantised, with an fp32 scale for each {block.removeprefix('a ')}; the FP8 copy "
            "of every layer then stays until its backward pass has used it.\nHow much do these "
            "copies take on each GPU at the end of the forward pass?"
        ),
        size=size,
        hints=(
            "Are the copies sharded, as the weights are that they were made of?",
            "Each rank has the copies of all layers whole: a byte an element, and the scales.",
            (
                f"{billions(count)} billion elements take a byte each, and "
                f"{float(extra):.4f} bytes for the scales."
            ),
        ),
        on_paper=(
            f"{billions(count)} billion × 1 byte = {paper(count)}",
            (
                f"scales of 4 bytes for {number(SCALED[block])} elements add "
                f"{100 * float(extra):.2g}%: {paper(count * (1 + extra))}"
            ),
        ),
        exact=(f"copies: {gb(matrices)}", f"scales: {gb(scales)}"),
        mistakes=_mistakes(size, matrices, ranks),
    )


def elements_of(architecture: Architecture) -> int:
    """Return the elements of the matrices that linear layers own inside the layers."""
    layers = {"layer", "dense-layer", "moe-layer"}
    return sum(
        tensor.size * tensor.copies
        for tensor in architecture.tensors
        if tensor.place in layers and tensor.matmul and tensor.columns > 1
    )


def _mistakes(size: int, matrices: int, ranks: int) -> Iterator[Mistake]:
    why = f"is shared by {ranks} ranks; the copies are whole on each, {{off}} more."
    yield wrong_size(Fraction(size, ranks), size, "copies taken as sharded", why)
    why = "has two bytes an element, as the weights have; FP8 takes one, {off} less."
    yield wrong_size(2 * matrices, size, "copies in 16 bits", why)
    why = "has four bits an element; FP8 takes eight, {off} more."
    yield wrong_size(Fraction(matrices, 2), size, "copies in 4 bits", why)
    why = "counts a copy for the forward and one for the backward pass, {off} too many."
    yield wrong_size(2 * size + 1, size, "twice of what it takes", why)
