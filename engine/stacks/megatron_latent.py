"""Multi-head latent attention on the `megatron` stack, on one rank.

Queries, and keys with values, go through a narrow matrix and a norm each before the wide one.
Rotary positions turn a part of each head; of the keys that part is the same in all heads, and
every head gets its copy of it, since the fused attention wants keys as wide as queries.

Sources: NVIDIA/Megatron-LM megatron/core/transformer/multi_latent_attention.py and
megatron/core/fusions/fused_mla_yarn_rope_apply.py (core 0.14), arXiv 2405.04434 section 2.1.
"""

from engine.stacks.megatron_parts import AGAIN, linear, norm, norm_and_columns, own
from engine.stacks.megatron_parts import attention as heads
from engine.stacks.pen import Pen, a, tokens
from engine.symbols import RING, d_n, d_r, d_v, r_kv, r_q
from engine.tape import Value

query_rank, rank, plain, turned, valued = (RING(x) for x in (r_q, r_kv, d_n, d_r, d_v))
LOW = "input of the norm before the wide matrix"


def attention(pen: Pen, x: Value) -> Value:
    """Write norm, projections and attention."""
    normed = norm(pen, x)
    narrow, wide = pen.block.latent_queries, a * (plain + turned)
    low = linear(pen, normed, query_rank, why=LOW, name="low-rank queries") if narrow else normed
    joined = linear(pen, normed, rank + turned, why=LOW, name="low-rank keys and values")
    compressed = Value(name="low rank", size=pen.compute * own * rank, view_of=joined)
    position = Value(name="position", size=pen.compute * own * turned, view_of=joined)
    pen.write(joined, output=compressed, also=(position,))
    matrix = norm_and_columns if narrow else linear
    queries = matrix(pen, low, wide, why=AGAIN, name="queries")
    both = norm_and_columns(
        pen, compressed, a * (plain + valued), why=AGAIN, name="keys and values"
    )
    keys = Value(name="keys", size=queries.size, why=f"{AGAIN}; rotary parts in every head")
    values = Value(name="values", size=pen.compute * tokens * a * valued, why=AGAIN)
    pen.write(both, position, output=keys, also=(values,))
    return heads(pen, queries, keys, values, size=values.size)
