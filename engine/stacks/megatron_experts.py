"""A mixture of experts on the `megatron` stack, on one rank.

Each expert takes as many tokens as its capacity is, those beyond it are dropped and what is
missing is filled up, so that the rows of a rank are known beforehand: T_e on each of the ranks
that share the experts. Tokens are sorted by expert, sent to the experts' ranks, sorted by the
experts there, and come back the same way.

Sources: NVIDIA/Megatron-LM megatron/core/transformer/moe (core 0.14; the all-to-all dispatcher
with drop and pad, fused permutation and grouped products), NVIDIA/TransformerEngine
transformer_engine/pytorch/permutation.py and module/grouped_linear.py (2.11).
"""

from sympy.polys.rings import PolyElement

from engine.stacks.megatron_parts import activation, norm, row
from engine.stacks.pen import E, K, Pen, f, h, tokens
from engine.symbols import RING, T_e, f_s
from engine.tape import Value

rows = RING(T_e)
INPUT = "input of the experts"


def experts(pen: Pen, x: Value) -> Value:
    """Write norm, router, experts and shared experts, and what goes to the residual stream."""
    normed = norm(pen, x)
    sent, weights, places = _sorted(pen, normed, _routed(pen, normed))
    received = _exchanged(pen, sent, name="tokens received")
    shared = _shared(pen, normed) if pen.block.shared_experts else None
    out = _computed(pen, _reordered(pen, received, name="tokens joined by expert"), weights)
    back = _reordered(pen, out, name="rows parted by rank")
    returned = _exchanged(pen, back, name="rows returned")
    total = Value(name="sum of experts", size=x.size)
    pen.write(returned, places, output=total)
    if shared is not None:
        total = pen.write(total, shared, output=Value(name="MLP result", size=x.size))
    # The layer's Python frame refers to each of these until it returns.
    pen.hold(sent, received, back)
    return total


def _routed(pen: Pen, x: Value) -> Value:
    """Write the router; return the weight of each token and expert, 0 for most."""
    pairs = tokens * E
    logits = Value(name="router logits", size=pen.compute * pairs)
    pen.write(x, output=logits, keeps=(x,))
    why = "softmax keeps its output, in fp32"
    chances = Value(name="router probabilities", size=4 * pairs, why=why)
    pen.write(logits, output=chances, keeps=(chances,))
    chosen = Value(
        name="chosen experts", size=8 * tokens * K, why="8 bytes each, to bring gradients back"
    )
    picked = Value(name="picked", size=pen.compute * pairs)
    pen.write(chances, output=picked, keeps=(chosen,))
    mask = Value(name="masks of tokens and experts", size=pairs, why="a byte each: who is dropped")
    weights = Value(
        name="weights of tokens and experts",
        size=pen.compute * pairs,
        why="the dispatcher refers to them until the next micro-batch",
    )
    balance = Value(
        name="router probabilities for the balance loss", size=4 * pairs, why=f"{why}, once more"
    )
    # The loss that balances the experts hangs on the weights, and keeps a softmax of its own.
    return pen.write(picked, output=weights, keeps=(mask, balance, weights))


def _sorted(pen: Pen, x: Value, weights: Value) -> tuple[Value, Value, Value]:
    """Write the tokens of each expert, one expert after the other.

    Returns their rows, the weight of each row, and what says where each token went.
    """
    sent = Value(name="tokens sent", size=pen.compute * rows * h, why=INPUT)
    scales = Value(name="weights of the rows", size=pen.compute * rows, why="they scale the rows")
    places = Value(
        name="places of the tokens",
        size=4 * tokens * (2 * E + 1),
        why="4 bytes for each token and expert, twice, to undo the sorting",
        differentiable=False,
    )
    pen.write(x, weights, output=sent, also=(scales,), keeps=(places,))
    return sent, scales, places


def _exchanged(pen: Pen, x: Value, *, name: str) -> Value:
    """Write an all-to-all between the ranks that share the experts, where there are several."""
    if not pen.block.expert_ranks:
        return x
    return pen.write(x, output=Value(name=name, size=x.size, why=INPUT))


def _reordered(pen: Pen, x: Value, *, name: str) -> Value:
    """Write a copy that joins the rows of an expert from all ranks, or parts them again."""
    if not (pen.block.expert_ranks and pen.block.local_experts):
        return x
    return pen.write(x, output=Value(name=name, size=x.size, why=INPUT))


def _computed(pen: Pen, x: Value, weights: Value) -> Value:
    """Write the experts, whose activation scales the rows by their weights."""
    up = _grouped(
        pen, x, 2 * f, why="the activation needs its input again", name="expert gates and ups"
    )
    hidden = activation(pen, up, pen.compute * rows * f, weights, name="expert hidden")
    return _grouped(pen, hidden, h, why="go back to their tokens", name="experts' outputs")


def _grouped(pen: Pen, x: Value, width: PolyElement, *, name: str, why: str) -> Value:
    out = Value(name=name, size=pen.compute * rows * width, why=why)
    return pen.write(x, output=out, keeps=(x,))


def _shared(pen: Pen, x: Value) -> Value:
    """Write the experts that every token goes to, one MLP."""
    width = RING(f_s)
    why = "the activation needs its input again"
    out = Value(name="shared gate and up", size=2 * pen.compute * tokens * width, why=why)
    up = pen.write(x, output=out, keeps=(x,))
    hidden = activation(pen, up, pen.compute * tokens * width, name="shared hidden")
    return row(pen, hidden, name="shared result")
