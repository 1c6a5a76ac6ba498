"""Topic C, everything else: the layer that ZeRO-3 has whole while it runs."""

from collections.abc import Iterator
from fractions import Fraction

from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import count
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.wording import gb, number, paper

RANKS = (8, 16, 32, 64)


@kind(
    name="gathered-layer",
    topic="C",
    level="junior",
    title="A layer that ZeRO-3 gathers",
    sources=("pytorch/torchtitan docs/fsdp.md",),
)
def gathered_layer(draw: Draw) -> Draft | None:
    """Ask for the bytes of a layer's weights while ZeRO-3 has them whole."""
    model, ranks = scenarios.any_model(draw), draw.choice(RANKS)
    gpu = scenarios.gpu_for(draw, ranks)
    x = scenarios.of_states(model, ("mixed", "adamw"), gpu, 3, ranks)
    if x is None:
        return None
    size = ledger(x).size("gathered layer")
    attention, mlp = _matrices(x)
    return Draft(
        prompt=_prompt(x),
        answer=QuantityAnswer(value=Fraction(size)),
        hints=(
            "A gathered layer is whole, on however many GPUs its shards lie.",
            "Count its matrices: four of attention, two or three of the MLP.",
            f"Attention has {count(attention)} parameters, the MLP {count(mlp)}; 2 bytes each.",
        ),
        solution=(
            Step(
                text=f"2 × ({count(attention)} + {count(mlp)}) = {paper(2 * (attention + mlp))}",
                depth="whiteboard",
            ),
            Step(text=f"attention: {number(attention)} parameters"),
            Step(text=f"MLP: {number(mlp)} parameters"),
            Step(text=f"The rest of the difference is norms, biases and padding: {gb(size)}"),
        ),
        mistakes=tuple(_mistakes(x, size)),
        scenario=x,
    )


def _prompt(x: Scenario) -> str:
    a = x.architecture
    return (
        f"{x.model.title}: L = {a.layers} layers, h = {number(a.hidden)}, a = {a.heads} heads of "
        f"d = {a.head_dim}, k = {a.kv_heads} for keys and values, "
        f"{'gated MLP' if a.gated else 'plain MLP'} f = {number(a.ffn)}. ZeRO-3 (FSDP2) on "
        f"{x.hardware.gpus} GPUs ({x.hardware.gpu.title}), layers gathered in 16 bits.\n"
        "How much do the weights of one layer take on a GPU while it runs? GB is 10^9 bytes and "
        "the unit of a bare number; full credit within 2%."
    )


def _matrices(x: Scenario) -> tuple[int, int]:
    """Return the parameters of a layer's matrices, of attention and of the MLP."""
    a = x.architecture
    attention = 2 * a.hidden * (a.query_width + a.kv_width)
    return attention, (3 if a.gated else 2) * a.hidden * a.ffn


def _mistakes(x: Scenario, size: int) -> Iterator[Mistake]:
    _, mlp = _matrices(x)
    layers = x.architecture.layers
    for name, value, why in (
        ("weights in fp32", 2 * size, "is fp32, as the shards are; layers are cast beforehand."),
        ("all layers counted", layers * size, f"is all {layers} layers; one is asked for."),
        ("MLP forgotten", size - 2 * mlp, f"leaves out the MLP, {gb(2 * mlp)}."),
    ):
        yield Mistake(name=name, value=Fraction(value), feedback=f"{gb(value)} {why}")
