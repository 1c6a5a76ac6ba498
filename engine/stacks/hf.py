"""The tapes of the `hf` stack: the classes of Hugging Face Transformers.

Read from Transformers 5.24, models/{llama,mistral,qwen2,mixtral,gpt2,gpt_neox}/modeling_*.py, and
traced operator by operator. RMSNorm, the masks of eager attention and GPT-2's GELU are plain
operators there, and each keeps what its own backward needs.
"""

from dataclasses import replace

from sympy.polys.rings import PolyElement

from engine.stacks import parts
from engine.stacks.block import Block
from engine.stacks.pen import E, K, Pen, a, b, f, h, k, kv, q, r, s, tokens
from engine.tape import ZERO, Operator, Tape, Value

SQUARE = tokens * a * s
HEADS_AGAIN = "attention needs q, k and v again"


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = parts.stream(pen, "residual stream")
    waiting = _waiting(block)
    normed = _norm(pen, x, "norm outputs")
    branch, weights = _attention(pen, normed)
    attention = branch = _hidden_dropout(pen, branch)
    if block.parallel_residual:
        other = _norm(pen, x, "norm outputs")
        other = _hidden_dropout(pen, _mlp(pen, other))
        both = Value(name="sum of the branches", size=branch.size)
        branch = pen.write(other, branch, output=both, hands_on=True)
        out = pen.add(x, branch, "next residual stream")
    else:
        attended = pen.add(x, branch, "residual stream")
        branch = _norm(pen, attended, "norm outputs")
        branch = _hidden_dropout(pen, _mlp(pen, branch))
        out = pen.add(attended, branch, "next residual stream")
        if not block.rotary:
            weights = (*weights, attention)  # a name of GPT-2's
    pen.hold(*weights)
    return parts.checkpointed(pen, x, out, beside=(waiting,))


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    return parts.embedding(Pen(block), dropout=block.dropout and _drops_hidden(block))


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = Pen(block)
    normed = _norm(pen, parts.stream(pen, "last residual stream"), "final norm output")
    tape = parts.logits_and_loss(pen, normed, holds_input=True)
    # Its own kind of cache: the loss's frame refers to both, and only the loss's backward, which
    # is over before the logits have their gradients, asks for the shifted ones again.
    targets = Value(name="padded and shifted targets", size=8 * (tokens + b + tokens), cached=True)
    *before, loss = tape.operators
    loss = replace(loss, inputs=(*loss.inputs, targets))
    return replace(tape, operators=(*before, Operator(inputs=(), output=targets), loss))


def shared(block: Block) -> PolyElement:
    """Return the bytes of what all layers share until the backward: rotary tables, at least."""
    size: PolyElement = 2 * block.precision.residual * s * r if block.rotary else ZERO
    # The mask is let go behind the last layer, unless checkpoints keep it for another time.
    return size + _mask(block).size if block.recompute == "full" else size


def _waiting(block: Block) -> Value:
    """Return what the model's frame refers to while a layer runs, beyond what layers keep."""
    size = ZERO if block.recompute == "full" else _mask(block).size
    rows = block.precision.residual * s * h
    if not block.rotary:
        size += b * rows + rows  # token rows and position rows, beside their sum
    elif block.norm == "layernorm":
        size += b * rows if block.dropout else ZERO
    elif block.recompute != "full" and block.precision.residual != 4:
        size += b * rows  # the first layer's norm keeps an fp32 copy of them
    return Value(name="waiting outside", size=size)


def _mask(block: Block) -> Value:
    """Return the mask that is added to the scores; nothing where attention is fused."""
    eager = block.attention == "eager"
    return Value(name="mask", size=block.precision.residual * b * s**2 if eager else ZERO)


def _drops_hidden(block: Block) -> bool:
    """Say whether the class drops elements of the hidden states too, not of the scores only."""
    return block.norm == "layernorm"


def _hidden_dropout(pen: Pen, x: Value) -> Value:
    return pen.dropout(x, tokens * h) if _drops_hidden(pen.block) else x


def _norm(pen: Pen, x: Value, name: str) -> Value:
    if pen.block.norm == "rmsnorm":
        return _rms_norm(pen, x, name)
    return pen.norm(x, name, h, rows=tokens, size=x.size)


def _rms_norm(pen: Pen, x: Value, name: str) -> Value:
    size = 4 * tokens * h
    why = "Transformers' RMSNorm computes in fp32, one operator after another"
    wide = x
    if x.size != size:
        wide = pen.write(x, output=Value(name="fp32 norm inputs", size=size, why=why))
    squares = Value(name="squares", size=size)
    pen.write(wide, output=squares, keeps=(wide,), backward_workspace=2 * size)
    scale = Value(name="norm statistics", size=4 * tokens, why="1 / rms of each row, in fp32")
    pen.write(squares, output=scale, keeps=(scale,))
    normed = Value(name="normed", size=size, why=why)
    pen.write(wide, scale, output=normed, keeps=(wide, scale), backward_workspace=size)
    if x.size != size:
        narrow = Value(
            name="normed in 16 bits", size=x.size, why="the norm's weight multiplies it"
        )
        normed = pen.write(normed, output=narrow)
    out = Value(name=name, size=x.size, why="input of the matrices behind the norm")
    return pen.write(
        normed,
        output=out,
        keeps=(normed,),
        gradients=pen.gradient * h,
        backward_workspace=x.size,
    )


def _attention(pen: Pen, x: Value) -> tuple[Value, tuple[Value, ...]]:
    """Write attention; return its result, and the probabilities that it returns beside it."""
    block = pen.block
    queries, keys, values = _one_matrix(pen, x) if _is_one_matrix(block) else _three(pen, x)
    before = queries, keys
    if block.rotary:
        wider = block.precision.residual // block.precision.compute
        queries, keys = (
            parts.rotate(pen, one, wider=wider, joins=_joins(block)) for one in before
        )
        pen.hold(*(one.storage for one in before))
    attend = _flash if block.attention == "flash" else _eager
    out, weights = attend(pen, queries, keys, values)
    result = pen.linear(
        out, "attention result", (h, q), bias=block.output_bias, why="goes to the residual stream"
    )
    pen.hold(*(one.storage for one in (queries, keys, values)), x)
    return result, weights


def _joins(block: Block) -> bool:
    """Say whether each head is put together of a turned part and a rest, be it empty."""
    return block.rotary and block.norm == "layernorm"


def _is_one_matrix(block: Block) -> bool:
    return block.norm == "layernorm"


def _three(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    bias = pen.block.qkv_bias
    return (
        pen.linear(x, "queries", (q, h), bias=bias, why=HEADS_AGAIN),
        pen.linear(x, "keys", (kv, h), bias=bias, why=HEADS_AGAIN),
        pen.linear(x, "values", (kv, h), bias=bias, why=HEADS_AGAIN),
    )


def _one_matrix(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    """Write one matrix for queries, keys and values, of which they are views."""
    bias = pen.block.qkv_bias
    whole = pen.linear(x, "queries, keys and values", (q + 2 * kv, h), bias=bias, why=HEADS_AGAIN)
    queries, keys, values = (
        Value(name=name, size=pen.compute * tokens * width, why=HEADS_AGAIN, view_of=whole)
        for name, width in (("queries", q), ("keys", kv), ("values", kv))
    )
    pen.write(whole, output=queries, also=(keys, values))
    return queries, keys, values


def _narrow(pen: Pen, x: Value, elements: PolyElement) -> Value:
    """Write the 16-bit cast that autocast makes of a product's factor, where it is wider."""
    size = pen.compute * elements
    if x.size == size:
        return x
    return pen.write(x, output=Value(name=x.name, size=size, why=x.why))


def _flash(
    pen: Pen, queries: Value, keys: Value, values: Value
) -> tuple[Value, tuple[Value, ...]]:
    queries = _narrow(pen, queries, tokens * q)
    keys = _narrow(pen, keys, tokens * kv)
    out = parts.flash(pen, queries, keys, values)
    # Heads put together of two parts lie one behind the other; the matrix wants tokens so.
    return parts.copy(pen, out) if _joins(pen.block) else out, ()


def _eager(
    pen: Pen, queries: Value, keys: Value, values: Value
) -> tuple[Value, tuple[Value, ...]]:
    compute, residual = pen.compute, pen.residual
    if pen.block.grouped:
        keys, values = (_for_all_heads(pen, x) for x in (keys, values))
    before, width = (keys, values), q if pen.block.grouped else kv
    queries = _factor(pen, queries, tokens * q, is_whole=_joins(pen.block))
    whole = _joins(pen.block) or pen.block.grouped
    keys = _factor(pen, keys, tokens * width, is_whole=whole)
    scores = Value(name="scores", size=compute * SQUARE)
    pen.write(queries, keys, output=scores, keeps=(queries, keys))
    scores = pen.write(scores, output=Value(name="scaled scores", size=scores.size))
    masked = pen.write(scores, output=Value(name="masked scores", size=residual * SQUARE))
    weights = _softmax(pen, masked)
    weights = pen.dropout(weights, SQUARE, "the product with the values needs it again")
    returned = weights
    weights = _narrow(pen, weights, SQUARE)
    values = _factor(pen, values, tokens * width, is_whole=pen.block.grouped)
    product = Value(name="heads", size=compute * tokens * q)
    pen.write(weights, values, output=product, keeps=(weights, values))
    out = Value(name="attention output", size=product.size, why="input of the output matrix")
    pen.write(product, output=out, hands_on=True)
    pen.hold(*(one.storage for one in before))
    return out, (returned,)


def _for_all_heads(pen: Pen, x: Value) -> Value:
    size = x.size.exquo(k) * a
    return pen.write(x, output=Value(name=f"{x.name} for all heads", size=size, why=x.why))


def _factor(pen: Pen, x: Value, elements: PolyElement, *, is_whole: bool) -> Value:
    """Write what a batched product makes of a factor: 16 bits under autocast, whole heads."""
    x = _narrow(pen, x, elements)
    # Heads of one sequence alone are a batch already, in whatever order they lie.
    return x if is_whole or pen.block.one_sequence else parts.copy(pen, x)


def _softmax(pen: Pen, masked: Value) -> Value:
    """Write a softmax in fp32, and its cast to the dtype of the queries or values."""
    wide = 4 * SQUARE
    scores = masked
    in_fp32 = pen.block.rotary or pen.block.precision.casts  # GPT-2 keeps the dtype it has
    if in_fp32 and masked.size != wide:
        scores = pen.write(masked, output=Value(name="fp32 scores", size=wide))
    weights = Value(
        name="attention probabilities",
        size=scores.size,
        why="softmax keeps its output: b·a·s² elements",
    )
    pen.write(scores, output=weights, keeps=(weights,))
    pen.hold(masked)
    after = pen.residual if pen.block.rotary else pen.compute
    if weights.size != after * SQUARE:
        name = "attention probabilities in 16 bits"
        weights = pen.write(
            weights, output=Value(name=name, size=after * SQUARE, why="input of the product")
        )
        if pen.block.rotary:  # GPT-2 has the cast as a statement of its own
            pen.hold(masked)
    return weights


def _mlp(pen: Pen, x: Value) -> Value:
    gpt2 = pen.block.activation == "gelu-tanh" and not (pen.block.rotary or pen.block.gated)
    write = _experts if pen.block.experts else _gpt2_mlp if gpt2 else parts.mlp
    out = write(pen, x)
    pen.hold(x)  # the call's arguments
    return out


def _experts(pen: Pen, x: Value) -> Value:
    """Write a mixture of experts, and beside it what its frames refer to until it is done."""
    own, rows = Pen(pen.block), tokens * K
    out = parts.experts(own, x)
    named = {value.name: value for op in own.operators for value in (op.output, *op.keeps)}
    ends = Value(
        name="ends of the experts' tokens",
        size=4 * E,
        why="a grouped product needs to know where each expert's tokens end",
        differentiable=False,
    )
    back = named["places of the outputs"]
    more = {"expert gates and ups": (ends,), "expert outputs": (ends,), "scaled outputs": (back,)}
    # Expert numbers once sorted and once cast to be counted, and the counts.
    frame, is_sorted = 8 * rows + 4 * rows + 4 * E, False
    for op in own.operators:
        is_sorted |= op.output.name == "tokens sent to experts"
        # The engine sums up the gradient of the weights last, when the places are gone.
        later = 4 * rows + back.size if op.output.name == "scaled outputs" else ZERO
        pen.operators.append(
            replace(
                op,
                inputs=tuple(value for value in op.inputs if value.differentiable),
                keeps=(
                    *(value for value in op.keeps if value is not back),
                    *more.get(op.output.name, ()),
                ),
                workspace=frame if is_sorted else ZERO,
                backward_workspace=op.backward_workspace - later,
            )
        )
    names = ("router logits", "shares", "chosen experts", "weights of the experts", "in order")
    pen.hold(*(named[name] for name in names), ends, back)
    return out


def _gpt2_mlp(pen: Pen, x: Value) -> Value:
    """Write GPT-2's MLP, whose tanh approximation of GELU is eight operators."""
    bias = pen.block.mlp_bias
    why = "GPT-2's GELU is eight operators; each keeps its own"
    up = pen.linear(x, "MLP up", (f, h), bias=bias, why=why)
    wide = pen.residual * tokens * f  # a power is fp32 under autocast
    half = pen.write(up, output=Value(name="half of MLP up", size=up.size, why=why))
    base = up
    if up.size != wide:
        base = pen.write(up, output=Value(name="fp32 MLP up", size=wide, why=why))
    cube = Value(name="cube", size=wide)
    pen.write(base, output=cube, keeps=(base,), backward_workspace=2 * wide)
    cube = pen.write(cube, output=Value(name="scaled cube", size=wide))
    inner = pen.write(up, cube, output=Value(name="sum", size=wide), hands_on=True)
    inner = pen.write(inner, output=Value(name="scaled sum", size=wide))
    tanh = Value(name="tanh", size=wide, why=why)
    pen.write(inner, output=tanh, keeps=(tanh,))
    plus = pen.write(tanh, output=Value(name="1 + tanh", size=wide, why=why), hands_on=True)
    hidden = Value(name="MLP hidden", size=wide, why="input of the down matrix")
    uncast = (wide, half.size) if half.size != wide else (ZERO, ZERO)
    pen.write(half, plus, output=hidden, keeps=(half, plus), uncast=uncast)
    return pen.linear(hidden, "MLP result", (h, f), bias=bias, why="goes to the residual stream")
