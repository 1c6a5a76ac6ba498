"""The weights of a rank as Megatron-LM with Transformer Engine joins them, by their shapes."""

from collections.abc import Iterator

from engine.architecture import Architecture, Experts, LatentAttention

Shape = tuple[int, int]


def elements_of_shapes(a: Architecture, *, head: bool) -> int:
    """Return the elements of one weight of each shape that occurs, of the head too if it is there.

    Queries, keys and values are one matrix, and so are gate and up; each expert has its own.
    """
    shapes = {*_shapes(a), *([(a.vocab, a.hidden)] if head else [])}
    return sum(rows * columns for rows, columns in shapes)


def _shapes(a: Architecture) -> Iterator[Shape]:
    if a.latent:
        yield from _latent(a, a.latent)
    else:
        yield a.query_width + 2 * a.kv_width, a.hidden
        yield a.hidden, a.query_width
    if a.experts is None or a.experts.dense_layers:
        yield from _mlp(a, a.ffn)
    if a.experts and a.experts.dense_layers < a.layers:
        yield from _experts(a, a.experts)


def _mlp(a: Architecture, width: int) -> Iterator[Shape]:
    yield (2 if a.gated else 1) * width, a.hidden
    yield a.hidden, width


def _experts(a: Architecture, experts: Experts) -> Iterator[Shape]:
    yield from _mlp(a, experts.ffn)
    if experts.shared_ffn:
        yield from _mlp(a, experts.shared_ffn)


def _latent(a: Architecture, m: LatentAttention) -> Iterator[Shape]:
    queries = a.heads * (m.nope_head_dim + m.rope_head_dim)
    if m.query_rank:
        yield m.query_rank, a.hidden
        yield queries, m.query_rank
    else:
        yield queries, a.hidden
    yield m.kv_rank + m.rope_head_dim, a.hidden
    yield a.heads * (m.nope_head_dim + m.value_head_dim), m.kv_rank
    yield a.hidden, a.heads * m.value_head_dim
