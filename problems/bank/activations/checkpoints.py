"""Topic B, activations: what checkpointing keeps."""

from collections.abc import Iterator
from fractions import Fraction

from engine.scenario import Model
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

# Tensors of the hidden size that a layer saves beside its input, in 16 bits, in lean stacks and
# in eager ones.
COPIES = (15, 17, 20, 24, 28, 32)
SEQUENCES = (2048, 4096, 8192, 16384, 32768, 65536, 98304, 131072)
BATCHES = (1, 2, 4, 8)
MOST_TOKENS = 2**20
HALF = 2  # bytes of a 16-bit element


@kind_at_levels(
    name="checkpointed",
    topic="B",
    levels=("junior", "mid"),
    title="What full checkpointing keeps",
    sources=(
        "arXiv 1604.06174 section 3",
        "stas00/ml-engineering training/performance/README.md",
        "huggingface/trl#7003",
    ),
)
def checkpointed(draw: Draw, level: Level) -> Draft | None:
    """Ask for the inputs of all layers, or for these and the one layer that is live."""
    name, copies, batch, sequence = draw.unlike(
        lambda: (
            draw.choice(scenarios.trainable()),
            draw.choice(COPIES),
            draw.choice(BATCHES),
            draw.choice(SEQUENCES),
        )
    )
    model = scenarios.modelled(name)
    a = model.architecture
    if batch * sequence > MOST_TOKENS or (a.positions and sequence > a.positions):
        return None
    one = layer_input(batch * sequence, a.hidden)
    live = copies if level == "mid" else 0
    size = kept(one, a.layers, live)
    product = f"{batch} × {number(sequence)} × {number(a.hidden)}"
    return one_size(
        prompt=_prompt(model, batch, sequence, copies, live),
        size=size,
        hints=(
            (
                "What does a layer keep when all of it is recomputed, and what does it keep while "
                "it is being recomputed?"
            ),
            f"A layer's input is {product} elements of {HALF} bytes: {paper(one)}.",
            f"{a.layers} layers keep one each"
            + (f", and the live one has {live} of them for a moment." if live else "."),
        ),
        on_paper=_on_paper(one, a.layers, live, product),
        exact=(
            f"the input of one layer: {gb(one)}",
            f"of {a.layers} layers: {gb(a.layers * one)}",
        ),
        mistakes=_mistakes(one, size, a.layers, copies, live),
    )


def layer_input(tokens: int, hidden: int) -> int:
    """Return the bytes of what goes into a layer, in 16 bits."""
    return tokens * hidden * HALF


def kept(one: int, layers: int, live: int = 0) -> int:
    """Return the bytes of all layers' inputs, and of so many tensors of the live layer."""
    return (layers + live) * one


def _prompt(model: Model, batch: int, sequence: int, copies: int, live: int) -> str:
    a = model.architecture
    asked = (
        "How much do the activations take at their most: all layers' inputs, and the layer that "
        "is being recomputed?"
        if live
        else "How much do the inputs of all layers take that are kept for the backward pass?"
    )
    return (
        f"{model.title}: L = {a.layers} layers, h = {number(a.hidden)}. Micro-batch b = {batch} × "
        f"s = {number(sequence)} tokens, 16-bit activations. Every layer is checkpointed: it "
        f"keeps its input and nothing else. Without that it would save about {copies} tensors of "
        f"the hidden size, b × s × h, beside its input. Leave out logits and loss.\n{asked}"
    )


def _on_paper(one: int, layers: int, live: int, product: str) -> Iterator[str]:
    yield f"one tensor: {product} × {HALF} bytes = {paper(one)}"
    if live:
        yield f"{layers} layers + {live} of the live one = {layers + live} tensors"
    yield f"{layers + live} × {paper(one)} = {paper((layers + live) * one)}"


def _mistakes(one: int, size: int, layers: int, copies: int, live: int) -> Iterator[Mistake]:
    why = f"is every layer's {copies + 1} tensors, as without checkpointing: {{off}} too many."
    yield wrong_size(layers * (copies + 1) * one, size, "nothing recomputed", why)
    if live:
        why = "is the layers' inputs; the layer that is being recomputed adds {off}."
        yield wrong_size(layers * one, size, "live layer forgotten", why)
        why = "is the live layer alone; the inputs of all layers add {off}."
        yield wrong_size(live * one, size, "checkpoints forgotten", why)
    else:
        why = f"is the input of one layer; {layers} layers keep one each, {{off}} more."
        yield wrong_size(one, size, "one layer for all", why)
        why = "adds the layer that is being recomputed, {off}, which was not asked for."
        yield wrong_size((layers + copies) * one, size, "live layer counted", why)
    why = "has 4 bytes an element; 16-bit activations take 2, {off} less."
    yield wrong_size(2 * size, size, "activations in 32 bits", why)
    why = "counts elements; each has 2 bytes, {off} more."
    yield wrong_size(Fraction(size, 2), size, "elements taken for bytes", why)
