"""Runs of operators that the layers of the `megatron` stack have in common."""

from sympy.polys.rings import PolyElement

from engine.stacks import parts
from engine.stacks.pen import Pen, a, b, f, h, s, tokens
from engine.symbols import RING, f_d, s_t
from engine.tape import ZERO, Value

own = b * RING(s_t)  # tokens that a rank has outside attention and MLP
AGAIN = "attention needs q, k and v again"
ROW = "input of the output matrix"


def stream(pen: Pen, *, name: str) -> Value:
    """Return a residual stream, of which a tensor rank may have a share of the tokens."""
    return Value(name=name, size=pen.compute * own * h, why="a norm keeps its input")


def statistics(pen: Pen) -> Value:
    """Return what a norm keeps beside its input."""
    return Value(
        name="norm statistics",
        size=(4 if pen.block.norm == "rmsnorm" else 8) * own,
        why="a norm keeps one or two fp32 numbers for each row it normalised",
    )


def gathered(pen: Pen) -> PolyElement:
    """Return the bytes of all tokens where a rank has its share of them."""
    size: PolyElement = pen.compute * tokens * h if pen.block.sequence_parallel else ZERO
    return size


def norm(pen: Pen, x: Value) -> Value:
    """Write a norm that several matrices read."""
    why = "input of the matrices behind the norm"
    out = Value(name="norm outputs", size=x.size, why=why)
    return pen.write(x, output=out, keeps=(x, statistics(pen)))


def linear(pen: Pen, x: Value, width: PolyElement, *, name: str, why: str) -> Value:
    """Write a matrix, whole on its rank."""
    return pen.write(
        x, output=Value(name=name, size=pen.compute * own * width, why=why), keeps=(x,)
    )


def norm_and_columns(pen: Pen, x: Value, width: PolyElement, *, name: str, why: str) -> Value:
    """Write a norm and a matrix cut by its output, in one operator."""
    whole = gathered(pen)
    normed = Value(name="norm outputs", size=x.size, why="input of the matrix behind the norm")
    return pen.write(
        x,
        output=Value(name=name, size=pen.compute * tokens * width, why=why),
        keeps=(x, statistics(pen), normed),
        workspace=whole,
        # Input and gradient for all tokens, then the share of that gradient before the norm.
        backward_workspace=2 * whole + x.size,
    )


def row(pen: Pen, x: Value, *, name: str) -> Value:
    """Write a matrix cut by its input, whose outputs all ranks add up."""
    whole = gathered(pen)
    out = Value(name=name, size=pen.compute * own * h, why="goes to the residual stream")
    return pen.write(x, output=out, keeps=(x,), workspace=whole, backward_workspace=whole)


def activation(pen: Pen, up: Value, size: PolyElement, *more: Value, name: str) -> Value:
    """Write an activation and the product with its gate, one kernel that keeps its inputs."""
    out = Value(name=name, size=size, why="input of the down matrix")
    return pen.write(up, *more, output=out, keeps=(up, *more))


def mlp(pen: Pen, x: Value) -> Value:
    """Write norm, MLP of the layers without experts, and what goes to the residual stream."""
    gates = 2 if pen.block.gated else 1
    width = RING(f_d) if pen.block.experts_elsewhere else f
    name = "MLP gate and up" if gates > 1 else "MLP up"
    up = norm_and_columns(
        pen, x, gates * width, why="the activation needs its input again", name=name
    )
    hidden = activation(pen, up, pen.compute * tokens * width, name="MLP hidden")
    return row(pen, hidden, name="MLP result")


def attention(pen: Pen, queries: Value, keys: Value, values: Value, *, size: PolyElement) -> Value:
    """Write attention, as fused as the recipe has it, whose output takes `size` bytes."""
    inner = Pen(pen.block)
    if pen.block.attention == "flash":
        out = parts.flash(inner, queries, keys, values, size=size)
    else:
        out = _eager(inner, queries, keys, values, size)
    return parts.core(pen, inner, out, queries, keys, values)


def _eager(pen: Pen, queries: Value, keys: Value, values: Value, size: PolyElement) -> Value:
    """Write attention over materialised scores, softmax and mask in one kernel."""
    square = tokens * a * s
    scores = Value(name="scores", size=pen.compute * square)
    pen.write(queries, keys, output=scores, keeps=(queries, keys))
    why = "softmax keeps its output: b·a·s² elements"
    weights = Value(name="attention probabilities", size=scores.size, why=why)
    pen.write(scores, output=weights, keeps=(weights,))
    weights = pen.dropout(weights, square, "the product with the values needs it again")
    out = Value(name="attention output", size=size, why=ROW)
    return pen.write(weights, values, output=out, keeps=(weights, values))
