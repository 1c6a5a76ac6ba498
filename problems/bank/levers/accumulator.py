"""Topic E, levers: the buffer that accumulation adds gradients in."""

from collections.abc import Iterator
from fractions import Fraction

from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import billions, gb, paper, rounded
from problems.wrong_sizes import wrong_size

RANKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128)
STEPS = (2, 3, 4, 8, 16, 32, 64)
WIDE = 4  # bytes of an fp32 element


@kind(
    name="gradient-accumulator",
    topic="E",
    level="mid",
    title="The buffer that accumulation adds",
    sources=("young-geng/EasyLM#36", "NVIDIA/Megatron-LM#654"),
)
def gradient_accumulator(draw: Draw) -> Draft:
    """Ask for the fp32 accumulator that a second micro-batch brings, as a rank's share."""
    title, parameters = scenarios.any_parameters(draw)
    ranks, steps = draw.choice(RANKS), draw.choice(STEPS)
    size, count = accumulator(parameters, ranks), rounded(parameters)
    shared = f"sharded over {ranks} GPUs as the other states are" if ranks > 1 else "on one GPU"
    return one_size(
        prompt=(
            f"A run of {title} (P = {parameters:,} parameters) frees each 16-bit gradient as soon "
            f"as the optimizer has used it. With gradients accumulated over {steps} micro-batches "
            f"in place of one, they are summed up in an fp32 buffer, {shared}, which stays from "
            "the first micro-batch to the step.\nHow much more does each GPU hold for it?"
        ),
        size=size,
        hints=(
            "How many elements has a buffer that gradients of all parameters are added in?",
            "One for each parameter, whatever the number of micro-batches, and each is fp32.",
            f"Multiply {billions(count)} billion by {WIDE} bytes"
            + (f", and take the share of one of {ranks} GPUs." if ranks > 1 else "."),
        ),
        on_paper=_on_paper(count, ranks),
        exact=(f"all of it: {gb(WIDE * parameters)}", "activations are those of one micro-batch"),
        mistakes=_mistakes(size, ranks, steps),
    )


def accumulator(parameters: int, ranks: int) -> int:
    """Return the bytes of a rank's share of an fp32 buffer with an element a parameter."""
    return WIDE * -(-parameters // ranks)


def _on_paper(count: int, ranks: int) -> Iterator[str]:
    size = paper(Fraction(WIDE * count, ranks), digits=4)
    share = f" / {ranks}" if ranks > 1 else ""
    yield f"{billions(count)} billion × {WIDE}{share} = {size}"


def _mistakes(size: int, ranks: int, steps: int) -> Iterator[Mistake]:
    if ranks > 1:
        why = f"is all of the buffer; {ranks} GPUs share it, {{off}} less."
        yield wrong_size(size * ranks, size, "not shared", why)
    why = "has 2 bytes an element; the sum is kept in fp32, {off} more."
    yield wrong_size(Fraction(size, 2), size, "gradients in 16 bits", why)
    why = f"has a buffer for each of {steps} micro-batches; all are added in one, {{off}} less."
    yield wrong_size(size * steps, size, "all accumulated micro-batches counted", why)
    why = "adds 16-bit gradients to the buffer, {off} too many: they are freed."
    yield wrong_size(Fraction(3 * size, 2), size, "freed gradients counted", why)
