"""Inference: stored weights, the cache of keys and values, and what one forward pass needs."""

from collections.abc import Iterator
from dataclasses import replace

from sympy import Add, Expr, Integer
from sympy.polys.rings import PolyElement

from engine.autograd import forward
from engine.ledger import SERVING_PHASES, Category, Evidence, Line, Phase
from engine.lines import outside
from engine.served import PUT_BACK, Served
from engine.stacks.tapes import layer, shared
from engine.symbols import (
    B_block,
    B_kv,
    E,
    K,
    L,
    L_w,
    M_passing,
    P,
    P_matrix,
    P_q,
    Q_scales,
    R_rotary,
    T,
    T_blocks,
    T_most,
    T_w,
    T_w_blocks,
    V_all,
    a,
    b,
    ceil_div,
    d,
    d_n,
    d_r,
    d_v,
    expression,
    f,
    f_d,
    f_s,
    h,
    k,
    largest,
    maximal,
    n,
    n_free,
    r,
    r_kv,
    s,
)

CACHE = "arXiv 1911.02150 (Shazeer) section 2.4, keys and values of earlier tokens"
PAGED = "arXiv 2309.06180 (PagedAttention) section 4"
POOL = "vllm-project/vllm vllm/v1/worker/gpu_worker.py, determine_available_memory"
GROWING = "huggingface/transformers src/transformers/cache_utils.py, DynamicLayer"
GENERATE = "huggingface/transformers src/transformers/generation/utils.py, _sample"
PROFILED = "vllm-project/vllm#10517: 20,000 and 29,000 tokens of Llama 3.1 8B, within 1%"
SAMPLED = "vllm-project/vllm#10511: 256 sequences of Llama 3 8B on one GPU and on two"
# Bytes a vocabulary entry: fp32 logits, the same sorted with their places, softmax and its sums.
SORTED = 39
# In fp32: the copy that is sampled from, and its softmax.
CHOSEN = 8


def lines(served: Served) -> Iterator[Line]:
    """Yield every line of a rank that serves, but what is outside PyTorch's allocator last."""
    yield from _weights(served)
    yield from _cache(served)
    yield from _tables(served)
    if served.last:
        yield _logits(served)
    yield from _passes(served)
    yield from _outside(served)


def _weights(served: Served) -> Iterator[Line]:
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
            size=each * P_matrix,
            phases=SERVING_PHASES,
            why="a matrix is put back into the layers' dtype before it multiplies anything",
            source="bitsandbytes-foundation/bitsandbytes bitsandbytes/autograd/_functions.py, "
            "MatMul4Bit",
            evidence=Evidence.ASSUMED,
        )


def _cache(served: Served) -> Iterator[Line]:
    full, held = (L - L_w if served.windowed else L), "of n sequences of T tokens"
    yield Line(
        name="KV cache",
        category=Category.KV_CACHE,
        size=n * B_kv * full * T,
        phases=SERVING_PHASES,
        why=f"a layer keeps keys and values {held}"
        if not served.block.latent
        else f"a layer keeps a latent vector and a rotary key {held}, for all heads together",
        source=CACHE if not served.block.latent else "arXiv 2405.04434 (DeepSeek-V2) section 2.1",
        evidence=Evidence.TRACED,
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


def _tables(served: Served) -> Iterator[Line]:
    if served.grows:
        yield Line(
            name="token ids",
            category=Category.TEMPORARY,
            size=8 * n * T,
            phases=SERVING_PHASES,
            why="8 bytes each: whoever generates holds what has been said",
            source=GENERATE,
            evidence=Evidence.TRACED,
        )
    if served.block.rotary:
        of_a_pass = expression(shared(served.block)[0]) if served.grows else Integer(0)
        yield Line(
            name="rotary table",
            category=Category.TEMPORARY,
            size=of_a_pass if served.grows else served.compute * r * R_rotary,
            phases=(Phase.PREFILL,) if served.grows else SERVING_PHASES,
            why="cosines and sines of each position, once for all layers",
            source=GENERATE if served.grows else PROFILED,
            evidence=Evidence.TRACED if served.grows else Evidence.MEASURED,
        )


def _logits(served: Served) -> Line:
    return Line(
        name="the sampler's logits",
        category=Category.LOGITS,
        size=_sampled(served),
        phases=SERVING_PHASES,
        why="for the last token of each sequence, of the whole vocabulary: logits, an fp32 copy "
        "and its softmax"
        + ("" if served.grows else ", sorted with their places to take the most likely ones"),
        source=GENERATE if served.grows else SAMPLED,
        evidence=Evidence.TRACED if served.grows else Evidence.MEASURED,
    )


def _sampled(served: Served) -> Expr:
    size: Expr = (served.compute + (CHOSEN if served.grows else SORTED)) * n * V_all
    return size


def _passes(served: Served) -> Iterator[Line]:
    """Yield what a pass needs beyond the logits, which come when its layers are done."""
    known = Evidence.TRACED if served.grows else Evidence.MEASURED
    if not served.grows and (served.block.experts or served.block.latent):
        known = Evidence.ASSUMED
    after = _sampled(served) if served.last else Integer(0)
    for phase, sizes, why in (
        (Phase.PREFILL, _prefill(served), "what a layer makes of the tokens of one pass"),
        (Phase.DECODE, _decode(served), "what a layer makes of one token of each sequence"),
    ):
        yield Line(
            name=f"{phase} working set",
            category=Category.TEMPORARY,
            size=largest(*(size - after for size in sizes), Integer(0)),
            phases=(phase,),
            why=f"{why}, beyond the logits",
            source=f"{GROWING}, and its layers operator by operator" if served.grows else PROFILED,
            evidence=known,
        )


def _prefill(served: Served) -> list[Expr]:
    if served.grows:
        return [expression(moment) for moment in _moments(served)]
    return [served.compute * b * s * width for width in _widths(served)]


def _decode(served: Served) -> list[Expr]:
    if not served.grows:
        return [served.compute * n * width for width in _widths(served)]
    # A layer's keys are made anew, one token longer, while the old ones are there.
    anew = ceil_div(n * B_kv * T_most, 2)
    of_one_token = [expression(moment).subs({b: n, s: 1}) for moment in _moments(served)]
    return [anew, *of_one_token]


def _moments(served: Served) -> tuple[PolyElement, ...]:
    return maximal(forward(layer(served.block), keeping=False))


def _widths(served: Served) -> Iterator[Expr]:
    """Yield the elements of a token that are alive in attention, and in the MLP or the experts.

    Beside three hidden vectors, the residual stream among them: in attention queries, keys,
    values and the result, in the MLP what its first matrices and its activation make.
    """
    block, factors = served.block, 3 if served.block.gated else 2
    if block.latent:
        yield 3 * h + a * (3 * d_n + 2 * d_r + 2 * d_v) + r_kv + d_r
    else:
        yield 3 * h + 2 * a * d + 2 * k * d
    if not block.experts:
        yield 3 * h + factors * f
        return
    if served.dense_layers:
        yield 3 * h + factors * f_d
    if block.shared_experts:
        yield 3 * h + factors * f_s
    yield 4 * h + E + factors * K * f
    yield 4 * h + E + K * (f + h)


def _outside(served: Served) -> Iterator[Line]:
    for line in outside.around(many=served.many):
        moved = line
        if line.category is Category.ALLOCATOR_SLACK and not served.grows:
            moved = replace(
                line,
                size=ceil_div(10 * M_passing, 100),
                low=ceil_div(2 * M_passing, 100),
                why="weights and blocks stay where they are: 2 to 10% of what comes and goes",
                evidence=Evidence.ASSUMED,
            )
        if line.category is Category.TEMPORARY:
            moved = replace(line, why="matrix products have a scratch buffer")
        yield replace(moved, phases=SERVING_PHASES)
