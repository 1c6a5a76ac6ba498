"""Attention of the `hf` stack: the classes of Hugging Face Transformers.

Read from Transformers 5.24, models/{llama,gpt2,gpt_neox,olmo2,gemma2}/modeling_*.py, and traced
operator by operator. Attention returns its probabilities beside its result where it is eager.
"""

from sympy.polys.rings import PolyElement

from engine.stacks import hf_norms, parts
from engine.stacks.block import Block
from engine.stacks.pen import Pen, a, h, k, kv, q, s, tokens
from engine.tape import Value

SQUARE = tokens * a * s
HEADS_AGAIN = "attention needs q, k and v again"


def attention(pen: Pen, x: Value) -> tuple[Value, tuple[Value, ...]]:
    """Write attention; return its result, and the probabilities that it returns beside it."""
    block = pen.block
    queries, keys, values = _one_matrix(pen, x) if _is_one_matrix(block) else _three(pen, x)
    if block.rotary:
        queries, keys = _turned(pen, queries, keys)
    attend = _flash if block.attention == "flash" else _eager
    out, weights = attend(pen, queries, keys, values)
    result = pen.linear(
        out,
        (h, q),
        name="attention result",
        bias=block.output_bias,
        why=pen.of_branch,
    )
    pen.hold(*(one.storage for one in (queries, keys, values)), x)
    return result, weights


def of_rotary(block: Block) -> int:
    """Return the bytes of an element of the rotary tables: OLMo 2 has them in fp32."""
    return 4 if hf_norms.is_olmo2(block) else block.precision.residual


def _turned(pen: Pen, *before: Value) -> tuple[Value, ...]:
    """Write rotary positions on queries and keys; OLMo 2 casts both back when both are turned."""
    block = pen.block
    wider = of_rotary(block) // block.precision.compute
    turned = tuple(parts.rotate(pen, one, wider=wider, joins=_joins(block)) for one in before)
    out = turned
    if hf_norms.is_olmo2(block) and wider > 1:
        out = tuple(
            pen.write(wide, output=Value(name=one.name, size=one.size, why=one.why))
            for wide, one in zip(turned, before, strict=True)
        )
        pen.hold(*turned)
    pen.hold(*(one.storage for one in before))
    return out


def _joins(block: Block) -> bool:
    """Say whether each head is put together of a turned part and a rest, be it empty."""
    return block.rotary and block.norm == "layernorm"


def _is_one_matrix(block: Block) -> bool:
    return block.norm == "layernorm"


def _three(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    bias = pen.block.qkv_bias
    queries = pen.linear(x, (q, h), name="queries", bias=bias, why=HEADS_AGAIN)
    queries = _normed(pen, queries, q)
    keys = pen.linear(x, (kv, h), name="keys", bias=bias, why=HEADS_AGAIN)
    keys = _normed(pen, keys, kv)
    return queries, keys, pen.linear(x, (kv, h), name="values", bias=bias, why=HEADS_AGAIN)


def _normed(pen: Pen, x: Value, width: PolyElement) -> Value:
    """Write the norm over all heads, where the class has one."""
    if pen.block.qk_norm != "full":
        return x
    return hf_norms.rms_norm(pen, x, width, name=f"normed {x.name}")


def _one_matrix(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    """Write one matrix for queries, keys and values, of which they are views."""
    bias = pen.block.qkv_bias
    whole = pen.linear(
        x, (q + 2 * kv, h), name="queries, keys and values", bias=bias, why=HEADS_AGAIN
    )
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
    if pen.block.soft_cap:
        scores = parts.soft_capped(pen, scores, name="scores", called=False)
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
    # As wide as the queries are; GPT-2 takes the values' dtype.
    is_wide = pen.block.rotary and not hf_norms.is_olmo2(pen.block)
    after = pen.residual if is_wide else pen.compute
    if weights.size != after * SQUARE:
        name = "attention probabilities in 16 bits"
        weights = pen.write(
            weights, output=Value(name=name, size=after * SQUARE, why="input of the product")
        )
    return weights
