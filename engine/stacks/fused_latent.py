"""Multi-head latent attention of plain modules: what its queries, keys and values are made of.

Queries, and keys with values, go through a narrow matrix and a norm each before the wide one;
queries may be without. Rotary positions turn a part of each head; of the keys that part is the
same in all heads, and the keys are a copy that has it in every head. The values stay where the
wide matrix made them, beside the other part of the keys, so that whole tensor is kept.

Source: arXiv 2405.04434 section 2.1; the modules are those of `engine.verify.attention`.
"""

from sympy.polys.rings import PolyElement

from engine.stacks import parts
from engine.stacks.pen import Pen, a, h, tokens
from engine.symbols import RING, d_n, d_r, d_v, r_kv, r_q
from engine.tape import Value

query_rank, rank, plain, turned, valued = (RING(x) for x in (r_q, r_kv, d_n, d_r, d_v))
AGAIN = "attention needs q, k and v again"
LOW = "input of the norm before the wide matrix"


def heads(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    """Write the projections and the rotary positions; return queries, keys and values."""
    queries = _queries(pen, x)
    keys, values = _keys_and_values(pen, x)
    return queries, keys, values


def _queries(pen: Pen, x: Value) -> Value:
    bias, wide = pen.block.qkv_bias, a * (plain + turned)
    if pen.block.latent_queries:
        low = pen.linear(x, (query_rank, h), name="low-rank queries", bias=bias, why=LOW)
        normed = _normed(pen, low, name="normed low-rank queries")
        whole = pen.linear(normed, (wide, query_rank), name="queries", bias=False, why=AGAIN)
    else:
        whole = pen.linear(x, (wide, h), name="queries", bias=False, why=AGAIN)
    if not pen.block.rotary:
        return whole
    still = _part(pen, whole, a * plain, name="still part")
    part = _part(pen, whole, a * turned, name="part")
    pen.write(whole, output=part, also=(still,))
    moved = parts.turn(pen, part, part.size, name="turned part")
    queries = Value(name="queries", size=whole.size, why=AGAIN)
    pen.write(still, moved, output=queries, hands_on=True, joins=True)
    pen.hold(whole)
    return queries


def _keys_and_values(pen: Pen, x: Value) -> tuple[Value, Value]:
    joined = pen.linear(
        x,
        (rank + turned, h),
        name="low-rank keys and values",
        bias=pen.block.qkv_bias,
        why=f"{LOW}, and beside it the rotary part of the keys",
    )
    low = _part(pen, joined, rank, name="low rank")
    position = _part(pen, joined, turned, name="position")
    pen.write(joined, output=low, also=(position,))
    normed = _normed(pen, low, name="normed low-rank keys and values")
    both = pen.linear(
        normed,
        (a * (plain + valued), rank),
        name="keys and values",
        bias=False,
        why="the values are a part of it, and attention needs them again",
    )
    still = _part(pen, both, a * plain, name="still part")
    values = _part(pen, both, a * valued, name="values")
    pen.write(both, output=values, also=(still,))
    if pen.block.rotary:
        position = parts.turn(pen, position, position.size, name="turned position")
    size = pen.compute * tokens * a * turned
    spread = Value(name="position in every head", size=size, view_of=position.storage)
    pen.write(position, output=spread)
    keys = Value(name="keys", size=still.size + size, why=AGAIN)
    pen.write(still, spread, output=keys, hands_on=True, joins=True)
    pen.hold(joined)
    return keys, values


def _part(pen: Pen, whole: Value, width: PolyElement, *, name: str) -> Value:
    return Value(name=name, size=pen.compute * tokens * width, why=AGAIN, view_of=whole)


def _normed(pen: Pen, low: Value, *, name: str) -> Value:
    width = low.size.exquo(pen.compute * tokens)
    return pen.norm(low, width, name=name, rows=tokens, size=low.size)
