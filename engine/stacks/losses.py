"""Head and loss of the `fused` stack: the operators behind the final norm, loss by loss."""

from collections.abc import Callable, Mapping

from engine.stacks import parts
from engine.stacks.pen import Pen, V, h, tokens
from engine.symbols import RING, R_chunk
from engine.tape import ZERO, Tape, Value

Writer = Callable[[Pen, Value], Tape]


def _eager(pen: Pen, normed: Value) -> Tape:
    """Write PyTorch's cross entropy over an fp32 copy of the logits."""
    return parts.logits_and_loss(pen, normed, holds_input=False)


def _fused(pen: Pen, normed: Value) -> Tape:
    """Write one kernel that puts the logits' gradient in the place of the logits.

    So nothing is kept beside the gradient, which the backward pass finds made.
    """
    logits = pen.linear(
        normed, (V, h), name="logits", bias=pen.block.head_bias, why="go to the loss"
    )
    pen.write(logits, output=Value(name="loss", size=ZERO), workspace=4 * tokens)
    return Tape(operators=tuple(pen.operators))


def _chunked(pen: Pen, normed: Value) -> Tape:
    """Write head and loss over chunks of rows, each of which has its gradients made at once.

    The gradients of the head and of its input are those of the whole loss when the forward pass
    is over; the backward pass only hands them on.
    """
    matrix = pen.gradient * V * h
    vector = pen.gradient * V * pen.block.head_bias
    made = normed.size + matrix + vector
    summed = V * pen.block.head_bias if pen.gradient else ZERO
    chunk = pen.compute * (RING(R_chunk) * V + summed)
    pen.write(
        normed,
        output=Value(name="loss", size=ZERO),
        gradients=matrix + vector,
        workspace=made + chunk + 4 * tokens,
    )
    return Tape(operators=tuple(pen.operators))


WRITERS: Mapping[str, Writer] = {"eager": _eager, "fused": _fused, "chunked": _chunked}


def chunk_rows(rows: int, *, vocab: int, hidden: int) -> int:
    """Return how many rows a chunk of the chunked loss has.

    A power of two, so that the logits of a chunk are about as many as elements come in.

    Args:
        rows: all rows: tokens of a micro-batch.
        vocab: entries of the vocabulary.
        hidden: elements of a row.

    Source: linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py.
    """
    chunks = -(-vocab // hidden)
    wanted = -(-rows // chunks)
    return min(rows, 1 << (wanted - 1).bit_length())
