"""Runs of operators that stacks have in common."""

from sympy.polys.rings import PolyElement

from engine.stacks.pen import E, K, Pen, V, a, d, f, h, positions, r, s, tokens
from engine.tape import ZERO, Operator, Tape, Value


def stream(pen: Pen, name: str, *, differentiable: bool = True) -> Value:
    """Return a residual stream, which is there already."""
    return Value(
        name=name,
        size=pen.residual * tokens * h,
        why="a norm keeps its input",
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
        return _turn(pen, x, x.size, x.name, wider)
    # A part of a head is a view: its gradient is padded with zeros to the whole head.
    turned = _turn(pen, x, x.size.exquo(d) * r, "turned part", wider)
    whole = Value(name=x.name, size=wider * x.size, why=x.why)
    return pen.write(turned, x, output=whole, hands_on=True)


def _turn(pen: Pen, x: Value, size: PolyElement, name: str, wider: int) -> Value:
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
    scores.hold(*heads)
    if pen.block.recompute != "selective":
        pen.operators.extend(scores.operators)
        return out
    tape = Tape(operators=tuple(scores.operators), holds=heads)
    return pen.write(*heads, output=out, keeps=heads, inner=tape)


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
    """Write two matrices around an activation, three with a gate, or a mixture of experts."""
    if pen.block.experts:
        return experts(pen, x)
    bias = pen.block.mlp_bias
    if not pen.block.gated:
        up = pen.linear(x, "MLP up", (f, h), bias=bias, why="the activation needs its input again")
        hidden = Value(name="MLP hidden", size=up.size, why="input of the down matrix")
        kept = hidden if pen.block.activation == "relu" else up
        pen.write(up, output=hidden, keeps=(kept,))
    else:
        gate = pen.linear(
            x, "MLP gate", (f, h), bias=bias, why="the activation needs its input again"
        )
        active = Value(name="MLP activated gate", size=gate.size, why="factor of the product")
        pen.write(gate, output=active, keeps=(active if pen.block.activation == "relu" else gate,))
        up = pen.linear(x, "MLP up", (f, h), bias=bias, why="factor of the product")
        hidden = Value(name="MLP hidden", size=up.size, why="input of the down matrix")
        pen.write(active, up, output=hidden, keeps=(active, up))
    return pen.linear(hidden, "MLP result", (h, f), bias=bias, why="goes to the residual stream")


def experts(pen: Pen, x: Value) -> Value:
    """Write a mixture of experts: tokens sorted by expert, and one grouped product for all."""
    size, rows = pen.compute, tokens * K
    weights, order = _routed(pen, x)
    sent = Value(name="tokens sent to experts", size=size * rows * h, why="input of the experts")
    places = _indices("places of the tokens", rows)
    pen.write(x, places, output=sent, keeps=(places,))
    up = _grouped(pen, sent, "expert gates and ups", (2 * f, h), why="factors of the product")
    gate, factor = (
        Value(name=name, size=size * rows * f, view_of=up) for name in ("expert gate", "expert up")
    )
    pen.write(up, output=gate, also=(factor,))
    why = "factor of the product"
    active = Value(name="expert activated gates", size=gate.size, why=why)
    pen.write(gate, output=active, keeps=(active if pen.block.activation == "relu" else gate,))
    hidden = Value(name="expert hidden", size=gate.size, why="input of the experts' down matrix")
    pen.write(active, factor, output=hidden, keeps=(active, factor))
    out = _grouped(pen, hidden, "expert outputs", (h, f), why="their weights' gradient needs them")
    total = _gathered(pen, x, out, weights)
    pen.hold(x, order, sent, out)
    return total


def _indices(name: str, rows: PolyElement) -> Value:
    why = "8 bytes a token and expert, to bring gradients back"
    return Value(name=name, size=8 * rows, why=why, differentiable=False)


def _routed(pen: Pen, x: Value) -> tuple[Value, Value]:
    """Write the router; return the weights of tokens and experts, sorted, and their order."""
    rows = tokens * K
    scores = pen.linear(x, "router logits", (E, h), bias=False, why="go to the softmax")
    if pen.compute != 4:
        scores = pen.write(scores, output=Value(name="fp32 router logits", size=4 * tokens * E))
    chances = Value(name="router probabilities", size=4 * tokens * E, why="softmax keeps them")
    pen.write(scores, output=chances, keeps=(chances,))
    picked = Value(name="picked", size=4 * rows)
    chosen = _indices("chosen experts", rows)
    pen.write(chances, output=picked, keeps=(chosen,), backward_workspace=chances.size)
    why = "their sum divides them"
    before = Value(name="picked probabilities", size=4 * rows + 4 * tokens, why=why)
    shares = Value(name="shares", size=4 * rows)
    pen.write(picked, output=shares, keeps=(before,), backward_workspace=8 * rows)
    order = _indices("order of the tokens", rows)
    weights = Value(name="weights of the experts", size=4 * rows, why="they scale the outputs")
    pen.write(shares, output=weights, keeps=(order,))
    return weights, order


def _grouped(
    pen: Pen, x: Value, name: str, shape: tuple[PolyElement, PolyElement], *, why: str
) -> Value:
    wide, narrow = shape
    out = Value(name=name, size=pen.compute * tokens * K * wide, why=why)
    return pen.write(x, output=out, keeps=(x,), gradients=pen.gradient * E * wide * narrow)


def _gathered(pen: Pen, x: Value, out: Value, weights: Value) -> Value:
    """Write what brings the experts' outputs back to their tokens and sums them, in fp32."""
    wide = 4 * tokens * K * h
    scaled = Value(name="scaled outputs", size=wide)
    uncast = (wide, out.size) if out.size != wide else (ZERO, ZERO)
    pen.write(
        out, weights, output=scaled, keeps=(out, weights), backward_workspace=wide, uncast=uncast
    )
    back = _indices("places of the outputs", tokens * K)
    in_order = pen.write(scaled, back, output=Value(name="in order", size=wide), keeps=(back,))
    total = pen.write(in_order, output=Value(name="sum of experts", size=4 * tokens * h))
    if x.size != total.size:
        total = pen.write(total, output=Value(name="MLP result", size=x.size))
    return total


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
        rows = Value(name="position rows", size=pen.residual * s * h)
        pen.write(output=rows, gradients=pen.gradient * positions * h)
        x = pen.write(x, rows, output=Value(name="residual stream", size=size), hands_on=True)
    if dropout:
        pen.dropout(x, tokens * h)
    return Tape(operators=tuple(pen.operators))


def logits_and_loss(pen: Pen, normed: Value, *kept: Value, holds_input: bool) -> Tape:
    """Return the tape that `pen` has written, with head and loss behind it."""
    logits = pen.linear(normed, "logits", (V, h), bias=pen.block.head_bias, why="go to the loss")
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
