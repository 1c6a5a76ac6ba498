"""Topic C, everything else: what a single product of matrices holds."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import MB
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import digits_of, gb, number, paper
from problems.wrong_sizes import wrong_size

# Tokens: from one to so many times as many.
TOKENS, MOST = 256, 256
BYTES = {"fp8": 1, "bf16": 2, "fp32": 4}


@kind(
    name="matmul-operands",
    topic="C",
    level="junior",
    title="Operands of one matrix product",
    sources=(
        "prachub.com, estimate VRAM and compare model parallelism",
        "jax-ml/scaling-book training.md",
    ),
)
def matmul_operands(draw: Draw) -> Draft:
    """Ask for the bytes of both factors and the product of one linear layer."""
    model, m = draw.unlike(
        lambda: (scenarios.any_model(draw), TOKENS * draw.between(1, MOST)),
        lambda figures: (figures[0].name, figures[1]),
    )
    a, word = model.architecture, draw.choice(tuple(BYTES))
    name, k, n = draw.choice(
        (("up projection", a.hidden, a.ffn), ("down projection", a.ffn, a.hidden))
    )
    each, sizes = BYTES[word], (m * k, k * n, m * n)
    size = operands(m, k, n, each)
    return one_size(
        prompt=(
            f"One product Y = X W in {word}, the MLP's {name} in {model.title}: X has "
            f"{number(m)} × {number(k)} entries, W {number(k)} × {number(n)}. Nothing is fused, "
            "and no workspace is counted.\nHow much do the two factors and the product take "
            "together?"
        ),
        size=size,
        hints=(
            "Three matrices are alive at once; what shape has the third?",
            f"Y has {number(m)} × {number(n)} entries.",
            f"Add mk, kn and mn, at {each} byte{'s' if each > 1 else ''} each.",
        ),
        on_paper=(
            f"{each} × (mk + kn + mn) = {each} × ({' + '.join(map(_millions, sizes))}) million",
            f"= {paper(size)}; it fits where that and the workspace are within the free memory",
        ),
        exact=(f"X {gb(each * sizes[0])}, W {gb(each * sizes[1])}, Y {gb(each * sizes[2])}",),
        mistakes=_mistakes(sizes, each, size),
    )


def operands(m: int, k: int, n: int, each: int) -> int:
    """Return the bytes of X of m × k entries, W of k × n and their product."""
    return each * (m * k + k * n + m * n)


def _millions(count: int) -> str:
    return digits_of(Fraction(count, MB))


def _mistakes(sizes: tuple[int, int, int], each: int, size: int) -> Iterator[Mistake]:
    x, w, y = sizes
    why = "leaves out the product Y, {off}."
    yield wrong_size(each * (x + w), size, "product forgotten", why)
    why = "leaves out X, {off}."
    yield wrong_size(each * (w + y), size, "input forgotten", why)
    why = "is the weights alone; X and Y add {off}."
    yield wrong_size(each * w, size, "weights only", why)
    why = "counts elements; {off} more with their bytes."
    yield wrong_size(Fraction(size, each), size, "elements taken for bytes", why)
    if each == 2:
        yield wrong_size(
            2 * size, size, "operands in 32 bits", "has 4 bytes an entry, {off} less."
        )
