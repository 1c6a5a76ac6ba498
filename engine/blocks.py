"""The tapes of the `fused` software stack: what its modules run, operator by operator.

The modules are those of `engine.verify.reference`; a tape here and a module there tell the same
story, once in sizes and once in PyTorch.
"""

from dataclasses import dataclass
from functools import cache

from sympy.polys.rings import PolyElement

from engine.architecture import NORM_VECTORS, Activation, Norm
from engine.recipe import Precision
from engine.symbols import RING
from engine.tape import ZERO, Operator, Tape, Value

b, s, h, f, V, _, a, k, d, positions = RING.gens[:10]
q, kv = a * d, k * d
tokens = b * s


@dataclass(frozen=True, kw_only=True)
class Block:
    """The switches, apart from sizes, that decide which operators run."""

    norm: Norm
    activation: Activation
    gated: bool
    rotary: bool
    grouped: bool
    head_norms: bool
    parallel_residual: bool
    shared_norm: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    head_bias: bool
    tied: bool
    precision: Precision
    attention: str
    recompute: str
    dropout: bool


class _Pen:
    """Writes operators onto a tape."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.compute = block.precision.compute
        self.residual = block.precision.residual
        self.gradient = block.precision.weights
        self.operators: list[Operator] = []

    def write(self, *inputs: Value, output: Value, keeps: tuple[Value, ...] = (), **more) -> Value:  # type: ignore[no-untyped-def] # noqa: ANN003 - handed on to Operator, which is typed
        self.operators.append(Operator(inputs=inputs, output=output, keeps=keeps, **more))
        return output

    def norm(
        self, x: Value, name: str, width: PolyElement, *, rows: PolyElement, size: PolyElement
    ) -> Value:
        numbers = {"rmsnorm": 4, "layernorm": 8, "layernorm-no-weight": 8}[self.block.norm]
        statistics = Value(
            name="norm statistics",
            size=numbers * rows,
            why="a norm keeps one or two fp32 numbers for each row it normalised",
        )
        return self.write(
            x,
            output=Value(name=name, size=size, why="input of the matrices behind the norm"),
            keeps=(x, statistics),
            gradients=self.gradient * NORM_VECTORS[self.block.norm] * width,
        )

    def linear(
        self, x: Value, name: str, shape: tuple[PolyElement, PolyElement], *, bias: bool, why: str
    ) -> Value:
        rows, columns = shape
        parameters = rows * columns + (rows if bias else 0)
        out = Value(name=name, size=self.compute * tokens * rows, why=why)
        if not self.block.precision.casts:
            gradients = self.gradient * parameters
            return self.write(x, output=out, keeps=(x,), gradients=gradients, makes_views=True)
        if x.size != self.compute * tokens * columns:
            x = self.write(
                x,
                output=Value(
                    name=f"{x.name} in 16 bits",
                    size=self.compute * tokens * columns,
                    why="autocast casts the input of every matrix anew, and each keeps its copy",
                ),
            )
        cast = Value(name="weight casts", size=self.compute * parameters)
        self.write(output=cast, gradients=self.gradient * parameters)
        return self.write(x, cast, output=out, keeps=(x, cast), makes_views=True)

    def dropout(self, x: Value, elements: PolyElement, why: str = "") -> Value:
        if not self.block.dropout:
            return x
        mask = Value(
            name="dropout masks",
            size=elements,
            why="dropout keeps one byte an element to know what it dropped",
        )
        return self.write(
            x, output=Value(name=f"{x.name} behind dropout", size=x.size, why=why), keeps=(mask,)
        )

    def add(self, x: Value, y: Value, name: str) -> Value:
        out = Value(name=name, size=x.size, why="a norm needs its input again in the backward")
        return self.write(x, y, output=out, hands_on=True)


@cache
def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = _Pen(block)
    x = Value(name="residual stream", size=pen.residual * tokens * h, why="a norm keeps its input")
    normed = _norm(pen, x)
    attended = pen.add(x, pen.dropout(_attention(pen, normed), tokens * h), "residual stream")
    branch = normed
    if not block.shared_norm:
        branch = _norm(pen, x if block.parallel_residual else attended)
    out = pen.add(attended, pen.dropout(_mlp(pen, branch), tokens * h), "next residual stream")
    tape = Tape(operators=tuple(pen.operators), holds=(x, branch))
    if block.recompute != "full":
        return tape
    kept = Operator(inputs=(x,), output=out, keeps=(x,), inner=tape)
    return Tape(operators=(kept,))


def _norm(pen: _Pen, x: Value) -> Value:
    return pen.norm(x, "norm outputs", h, rows=tokens, size=pen.residual * tokens * h)


def _attention(pen: _Pen, x: Value) -> Value:
    block = pen.block
    bias = block.qkv_bias
    queries = pen.linear(x, "queries", (q, h), bias=bias, why="attention needs q, k and v again")
    keys = pen.linear(x, "keys", (kv, h), bias=bias, why="attention needs q, k and v again")
    values = pen.linear(x, "values", (kv, h), bias=bias, why="attention needs q, k and v again")
    if block.head_norms:
        queries = pen.norm(queries, "normed queries", d, rows=tokens * a, size=queries.size)
        keys = pen.norm(keys, "normed keys", d, rows=tokens * k, size=keys.size)
    if block.rotary:
        queries, keys = _rotate(pen, queries), _rotate(pen, keys)
    if block.attention == "eager":
        queries, keys, values = (_copy(pen, x) for x in (queries, keys, values))
    out = _core(pen, queries, keys, values)
    return pen.linear(
        out, "attention result", (h, q), bias=block.output_bias, why="goes to the residual stream"
    )


def _copy(pen: _Pen, x: Value) -> Value:
    return pen.write(x, output=Value(name=x.name, size=x.size, why=x.why), hands_on=True)


def _rotate(pen: _Pen, x: Value) -> Value:
    turned = pen.write(x, output=Value(name="turned", size=x.size))
    halves = Value(name="halves", size=x.size)
    pen.write(x, output=halves, workspace=x.size, backward_workspace=x.size)
    other = pen.write(halves, output=Value(name="other", size=x.size))
    return pen.write(
        turned, other, output=Value(name=x.name, size=x.size, why=x.why), hands_on=True
    )


def _core(pen: _Pen, queries: Value, keys: Value, values: Value) -> Value:
    inner = _Pen(pen.block)
    scores = _flash if pen.block.attention == "flash" else _eager
    out = scores(inner, queries, keys, values)
    if pen.block.recompute != "selective":
        pen.operators.extend(inner.operators)
        return out
    tape = Tape(operators=tuple(inner.operators), holds=(queries, keys, values))
    return pen.write(queries, keys, values, output=out, keeps=(queries, keys, values), inner=tape)


def _flash(pen: _Pen, queries: Value, keys: Value, values: Value) -> Value:
    out = Value(
        name="attention output",
        size=queries.size,
        why="kept by the fused attention and by the output matrix, once",
    )
    sums = Value(
        name="log-sum-exp",
        size=4 * tokens * a,
        why="one fp32 number a query and head, in place of the scores",
        differentiable=False,
    )
    return pen.write(queries, keys, values, output=out, keeps=(queries, keys, values, out, sums))


def _eager(pen: _Pen, queries: Value, keys: Value, values: Value) -> Value:
    square = tokens * a * s
    if pen.block.grouped:
        keys, values = (
            pen.write(
                x, output=Value(name=f"{x.name} for all heads", size=queries.size, why=x.why)
            )
            for x in (keys, values)
        )
    scores = Value(name="scores", size=pen.compute * square)
    pen.write(queries, keys, output=scores, keeps=(queries, keys))
    for name in ("scaled scores", "masked scores"):
        scores = pen.write(scores, output=Value(name=name, size=scores.size))
    if pen.residual != pen.compute:
        scores = pen.write(scores, output=Value(name="fp32 scores", size=pen.residual * square))
    weights = Value(
        name="attention probabilities",
        size=scores.size,
        why="softmax keeps its output: b·a·s² elements",
    )
    pen.write(scores, output=weights, keeps=(weights,))
    weights = pen.dropout(weights, square, "the product with the values needs it again")
    if pen.residual != pen.compute:
        name = f"{weights.name} in 16 bits"
        weights = pen.write(
            weights, output=Value(name=name, size=pen.compute * square, why="input of the product")
        )
    product = Value(name="heads", size=queries.size)
    pen.write(weights, values, output=product, keeps=(weights, values))
    out = Value(name="attention output", size=queries.size, why="input of the output matrix")
    return pen.write(product, output=out, hands_on=True)


def _mlp(pen: _Pen, x: Value) -> Value:
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


@cache
def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    pen = _Pen(block)
    stream = pen.residual * tokens * h
    ids = Value(name="token ids", size=8 * tokens, why="the embedding's backward needs them")
    table = pen.gradient * V * h
    # Tied: this gradient meets the head's, which is a view unless autocast copied it.
    meeting = table if block.precision.casts else 2 * table
    x = pen.write(
        output=Value(name="embedded", size=stream),
        keeps=(ids,),
        gradients=ZERO if block.tied else table,
        backward_workspace=meeting if block.tied else ZERO,
    )
    if not block.rotary:
        rows = Value(name="position rows", size=pen.residual * s * h)
        pen.write(output=rows, gradients=pen.gradient * positions * h)
        x = pen.write(x, rows, output=Value(name="residual stream", size=stream), hands_on=True)
    pen.dropout(x, tokens * h)
    return Tape(operators=tuple(pen.operators))


@cache
def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = _Pen(block)
    x = Value(
        name="last residual stream",
        size=pen.residual * tokens * h,
        why="the final norm keeps its input",
    )
    normed = pen.norm(x, "final norm output", h, rows=tokens, size=pen.residual * tokens * h)
    logits = pen.linear(normed, "logits", (V, h), bias=block.head_bias, why="go to the loss")
    wide = logits
    if pen.compute != 4:
        wide = pen.write(logits, output=Value(name="fp32 logits", size=4 * tokens * V))
    logs = Value(
        name="log-softmax",
        size=4 * tokens * V,
        why="cross entropy keeps its fp32 log-probabilities",
    )
    pen.write(wide, output=logs, keeps=(logs,))
    ids = Value(name="target ids", size=8 * tokens, why="cross entropy picks the targets again")
    loss = Value(name="loss", size=ZERO)
    pen.write(logs, output=loss, keeps=(logs, ids))
    return Tape(operators=tuple(pen.operators), holds=(logits, wide))


@cache
def first_layer(block: Block) -> Tape:
    """Return the tape of embedding and first layer, for the end of the backward pass."""
    bottom, top = embedding(block), layer(block)
    entry = top.operators[0].inputs[0]
    last = bottom.operators[-1]
    joined = Operator(
        inputs=last.inputs,
        output=entry,
        keeps=last.keeps,
        gradients=last.gradients,
        hands_on=last.hands_on,
        backward_workspace=last.backward_workspace,
    )
    return Tape(operators=(*bottom.operators[:-1], joined, *top.operators))
