"""Runs of operators that stacks have in common."""

from sympy.polys.rings import PolyElement

from engine.stacks.pen import Pen, V, a, d, f, h, positions, r, s, tokens
from engine.symbols import RING, f_d, f_s
from engine.tape import ZERO, Operator, Tape, Value

# What goes to the head has this name in the tape of every stack.
FINAL_NORM = "final norm output"


def stream(pen: Pen, *, name: str, differentiable: bool = True) -> Value:
    """Return a residual stream, which is there already."""
    return Value(
        name=name,
        size=pen.residual * tokens * h,
        why=pen.of_stream,
        differentiable=differentiable,
    )


def copy(pen: Pen, x: Value) -> Value:
    """Write a copy of `x` in another order of its dimensions."""
    return pen.write(x, output=Value(name=x.name, size=x.size, why=x.why), hands_on=True)


def rotate(pen: Pen, x: Value, *, wider: int = 1, joins: bool) -> Value:
    """Write rotary positions on `x`; tables of a wider dtype make the result `wider` times it.

    Where it `joins` the turned part of each head to the rest, the result is a whole copy.
    """
    if not joins:
        return turn(pen, x, x.size, wider, name=x.name)
    # A part of a head is a view: its gradient is padded with zeros to the whole head.
    turned = turn(pen, x, x.size.exquo(d) * r, wider, name="turned part")
    whole = Value(name=x.name, size=wider * x.size, why=x.why)
    return pen.write(turned, x, output=whole, hands_on=True)


def turn(pen: Pen, x: Value, size: PolyElement, wider: int = 1, *, name: str) -> Value:
    """Write rotary positions on all of `x`, or on as much of it as takes `size` bytes."""
    uncast = (wider * size, size) if wider > 1 else (ZERO, ZERO)
    wide = Value(name="turned", size=wider * size)
    turned = pen.write(x, output=wide, uncast=uncast)
    halves = Value(name="halves", size=size)
    pen.write(x, output=halves, workspace=size, backward_workspace=size)
    wide = Value(name="other", size=wider * size)
    other = pen.write(halves, output=wide, uncast=uncast)
    out = Value(name=name, size=wider * size, why=x.why)
    return pen.write(turned, other, output=out, hands_on=True)


def core(pen: Pen, scores: Pen, out: Value, *heads: Value) -> Value:
    """Write what `scores` has written: as it is, or as a checkpoint of its own."""
    held = tuple(one.storage for one in heads)
    scores.hold(*held)
    if pen.block.recompute != "selective":
        pen.operators.extend(scores.operators)
        return out
    tape = Tape(operators=tuple(scores.operators), holds=held)
    return pen.write(*heads, output=out, keeps=heads, inner=tape)


def soft_capped(pen: Pen, x: Value, *, name: str, called: bool = True) -> Value:
    """Write tanh(x / cap) · cap, three operators of which tanh keeps its output.

    A function that is `called` for it has `x` as its argument until it is done.
    """
    divided = pen.write(x, output=Value(name="divided by the cap", size=x.size))
    tanh = Value(name=f"tanh of the {name}", size=x.size, why="its derivative is 1 - tanh²")
    pen.write(divided, output=tanh, keeps=(tanh,))
    capped = pen.write(tanh, output=Value(name=f"capped {name}", size=x.size))
    if called:
        pen.hold(x)
    return capped


def flash(
    pen: Pen, queries: Value, keys: Value, values: Value, *, size: PolyElement | None = None
) -> Value:
    """Write fused attention: it keeps its inputs, its output and one number a query and head.

    The output takes `size` bytes, as many as the queries where nothing is said.
    """
    out = Value(
        name="attention output",
        size=queries.size if size is None else size,
        why="kept by the fused attention and by the output matrix, once",
    )
    sums = Value(
        name="log-sum-exp",
        size=4 * tokens * a,
        why="one fp32 number a query and head, in place of the scores",
        differentiable=False,
    )
    kept = (queries, keys, values, out, sums)
    return pen.write(queries, keys, values, output=out, keeps=kept, makes_all=True)


def mlp(pen: Pen, x: Value) -> Value:
    """Write the MLP of a layer without experts."""
    return _mlp(pen, x, RING(f_d) if pen.block.experts_elsewhere else f, called="MLP")


def shared_experts(pen: Pen, x: Value) -> Value:
    """Write the experts that every token goes to: one MLP."""
    return _mlp(pen, x, RING(f_s), called="shared expert")


def _mlp(pen: Pen, x: Value, width: PolyElement, *, called: str) -> Value:
    """Write two matrices around an activation, three with a gate."""
    bias = pen.block.mlp_bias
    if not pen.block.gated:
        up = pen.linear(
            x,
            (width, h),
            name=f"{called} up",
            bias=bias,
            why="the activation needs its input again",
        )
        hidden = Value(name=f"{called} hidden", size=up.size, why="input of the down matrix")
        kept = hidden if pen.block.activation == "relu" else up
        pen.write(up, output=hidden, keeps=(kept,))
    else:
        gate = pen.linear(
            x,
            (width, h),
            name=f"{called} gate",
            bias=bias,
            why="the activation needs its input again",
        )
        active = Value(
            name=f"{called} activated gate", size=gate.size, why="factor of the product"
        )
        pen.write(gate, output=active, keeps=(active if pen.block.activation == "relu" else gate,))
        up = pen.linear(x, (width, h), name=f"{called} up", bias=bias, why="factor of the product")
        hidden = Value(name=f"{called} hidden", size=up.size, why="input of the down matrix")
        pen.write(active, up, output=hidden, keeps=(active, up))
    return pen.linear(hidden, (h, width), name=f"{called} result", bias=bias, why=pen.of_branch)


def checkpointed(
    pen: Pen, x: Value, out: Value, *holds: Value, beside: tuple[Value, ...] = ()
) -> Tape:
    """Return the tape of a layer, as a checkpoint where everything is recomputed."""
    tape = Tape(operators=tuple(pen.operators), holds=(x, *holds), beside=beside)
    if pen.block.recompute != "full":
        return tape
    return Tape(operators=(Operator(inputs=(x,), output=out, keeps=(x,), inner=tape),))


def embedding(pen: Pen, *, dropout: bool) -> Tape:
    """Return the tape of token and position tables, up to the first layer's residual stream."""
    block = pen.block
    size = pen.residual * tokens * h
    table = pen.gradient * V * h
    # Tied: this gradient meets the head's, which is a matrix product's view as a rule.
    whole = block.precision.casts or block.loss == "chunked"
    meeting = table if whole else 2 * table
    x = pen.write(
        output=Value(name="embedded", size=size),
        gradients=ZERO if block.tied else table,
        backward_workspace=table if block.tied else ZERO,
        meeting=meeting if block.tied else ZERO,
    )
    if not block.rotary:
        # The gradient of one sequence's is that of their sum as it is.
        each = tokens if block.one_sequence else s
        rows = Value(name="position rows", size=pen.residual * each * h)
        pen.write(output=rows, gradients=pen.gradient * positions * h)
        x = pen.write(x, rows, output=Value(name="residual stream", size=size), hands_on=True)
    if dropout:
        pen.dropout(x, tokens * h)
    return Tape(operators=tuple(pen.operators))


def logits_and_loss(pen: Pen, normed: Value, *kept: Value, holds_input: bool) -> Tape:
    """Return the tape that `pen` has written, with head and loss behind it."""
    logits = pen.linear(
        normed, (V, h), name="logits", bias=pen.block.head_bias, why="go to the loss"
    )
    if pen.block.soft_cap:
        logits = soft_capped(pen, logits, name="logits", called=not holds_input)
    wide = logits
    if pen.compute != 4:
        wide = pen.write(logits, output=Value(name="fp32 logits", size=4 * tokens * V))
    logs = Value(
        name="log-softmax",
        size=4 * tokens * V,
        why="cross entropy keeps its fp32 log-probabilities",
    )
    pen.write(wide, output=logs, keeps=(logs,))
    pen.write(logs, output=Value(name="loss", size=ZERO), keeps=(logs, *kept))
    return Tape(
        operators=tuple(pen.operators),
        holds=(logits, wide, *((normed,) if holds_input else ())),
    )
