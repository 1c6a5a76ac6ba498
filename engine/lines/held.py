"""What a rank that serves holds: stored weights, and the cache of keys and values."""

from collections.abc import Iterator

from sympy import Add

from engine.ledger import SERVING_PHASES, Category, Evidence, Line, Phase
from engine.served import PUT_BACK, Served
from engine.symbols import (
    B_block,
    B_kv,
    L,
    L_w,
    P,
    P_q,
    P_q_largest,
    Q_scales,
    T,
    T_blocks,
    T_w,
    T_w_blocks,
    ceil_div,
    n,
    n_free,
)

CACHE = "arXiv 1911.02150 (Shazeer) section 2.4, keys and values of earlier tokens"
PAGED = "arXiv 2309.06180 (PagedAttention) section 4"
POOL = "vllm-project/vllm vllm/v1/worker/gpu_worker.py, determine_available_memory"
GROWING = "huggingface/transformers src/transformers/cache_utils.py, DynamicLayer"


def weights(served: Served) -> Iterator[Line]:
    """Yield the weights as they are stored, with their scales."""
    each, kept = served.compute, served.weights
    yield Line(
        name="weights",
        category=Category.WEIGHTS,
        size=each * (P - P_q) if kept else each * P,
        phases=SERVING_PHASES,
        why=f"{each} bytes a parameter"
        + (": embedding, norms, biases and head, which stay as they are" if kept else ""),
        source="the checkpoint's dtype: no gradients, no master copy, no optimizer states",
    )
    if kept is None:
        return
    yield Line(
        name="quantised weights",
        category=Category.WEIGHTS,
        size=ceil_div(kept.bits * P_q, 8),
        phases=SERVING_PHASES,
        why=f"the layers' matrices in {kept.title}: {kept.bits} bits a parameter",
        source=kept.source,
    )
    if kept.block:
        yield Line(
            name="scales of the quantised weights",
            category=Category.WEIGHTS,
            size=Q_scales,
            phases=SERVING_PHASES,
            why=f"one for each block of {kept.block}: {float(kept.each):.3f} bits a parameter "
            "with them",
            source=kept.source,
        )
    if kept.name in PUT_BACK:
        yield Line(
            name="a matrix, put back",
            category=Category.TEMPORARY,
            size=each * P_q_largest,
            phases=SERVING_PHASES,
            why="a matrix is put back into the layers' dtype before it multiplies anything",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/autograd/_functions.py, "
            "MatMul4Bit",
            evidence=Evidence.ASSUMED,
        )


def cache(served: Served) -> Iterator[Line]:
    """Yield the keys and values of all sequences, and the blocks that they are in."""
    full, of_all = (L - L_w if served.windowed else L), "of n sequences of T tokens"
    yield Line(
        name="KV cache",
        category=Category.KV_CACHE,
        size=n * B_kv * full * T,
        phases=SERVING_PHASES,
        why=f"a layer keeps keys and values {of_all}"
        if not served.block.latent
        else f"a layer keeps a latent vector and a rotary key {of_all}, for all heads together",
        source=CACHE if not served.block.latent else "arXiv 2405.04434 (DeepSeek-V2) section 2.1",
        evidence=Evidence.TRACED if served.grows else Evidence.EXACT,
    )
    if served.windowed:
        yield from _windows(served)
    if served.paged:
        last = n * B_kv * full * (T_blocks - T)
        windowed = n * B_kv * L_w * (T_w_blocks - T_w)
        yield Line(
            name="places left in the last blocks",
            category=Category.KV_CACHE,
            size=Add(last, windowed) if served.windowed else last,
            phases=SERVING_PHASES,
            why="a sequence has whole blocks, and its last one is filled as it grows",
            source=PAGED,
        )
    if served.pooled:
        yield Line(
            name="free blocks of the pool",
            category=Category.KV_CACHE,
            size=n_free * B_block,
            phases=SERVING_PHASES,
            why="the engine takes its share of the card when it starts, whatever the model: what "
            "weights and all else leave of it is the pool",
            source=POOL,
        )


def _windows(served: Served) -> Iterator[Line]:
    yield Line(
        name="KV cache of windowed layers",
        category=Category.KV_CACHE,
        size=n * B_kv * L_w * T_w,
        phases=(Phase.DECODE,) if served.grows else SERVING_PHASES,
        why="a layer with a window keeps the tokens in it and no more",
        source="arXiv 2310.06825 (Mistral 7B) section 2, rolling buffer cache",
        evidence=Evidence.TRACED if served.grows else Evidence.ASSUMED,
    )
    if served.grows:
        yield Line(
            name="KV cache of windowed layers, whole prompt",
            category=Category.KV_CACHE,
            size=n * B_kv * L_w * T,
            phases=(Phase.PREFILL,),
            why="the window is a view of all tokens' keys and values until the next one comes",
            source=GROWING.replace("DynamicLayer", "DynamicSlidingWindowLayer"),
            evidence=Evidence.TRACED,
        )
