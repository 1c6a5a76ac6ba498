"""Inference: what a rank holds, and what one forward pass and the sampler need beside it."""

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr, Integer
from sympy.polys.rings import PolyElement

from engine.autograd import forward
from engine.ledger import SERVING_PHASES, Category, Evidence, Line, Phase
from engine.lines import held, outside
from engine.lines.held import GROWING
from engine.served import Served
from engine.stacks.tapes import layer, shared
from engine.symbols import (
    B_kv,
    E,
    K,
    M_passing,
    R_rotary,
    T,
    T_most,
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
    r,
    r_kv,
    s,
)

GENERATE = "huggingface/transformers src/transformers/generation/utils.py, _sample"
PROFILED = "vllm-project/vllm#10517: 20,000 and 29,000 tokens of Llama 3.1 8B, within 1%"
MODULES = "the shapes that the modules of vllm-project/vllm vllm/model_executor make"
SAMPLED = "vllm-project/vllm#10511: 256 sequences of Llama 3 8B on one GPU and on two"
# Bytes a vocabulary entry: fp32 logits, the same sorted with their places, softmax and its sums.
SORTED = 39
# In fp32: the copy that is sampled from, and its softmax.
CHOSEN = 8


def lines(served: Served) -> Iterator[Line]:
    """Yield every line of a rank that serves, but what is outside PyTorch's allocator last."""
    yield from held.weights(served)
    yield from held.cache(served)
    yield from _tables(served)
    if served.last:
        yield _logits(served)
    yield from _passes(served)
    yield from _outside(served)


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
    source, evidence = PROFILED, Evidence.MEASURED
    if served.grows:
        source, evidence = f"{GROWING}, and layers operator by operator", Evidence.TRACED
    elif served.block.experts or served.block.latent:
        source, evidence = MODULES, Evidence.ASSUMED
    after = _sampled(served) if served.last else Integer(0)
    yield Line(
        name="prefill working set",
        category=Category.TEMPORARY,
        size=largest(*(size - after for size in _prefill(served)), Integer(0)),
        phases=(Phase.PREFILL,),
        why="what a layer makes of the tokens of one pass, beyond the logits",
        source=source,
        evidence=evidence,
    )
    yield Line(
        name="decode working set",
        category=Category.TEMPORARY,
        size=largest(*(size - after for size in _decode(served)), Integer(0)),
        phases=(Phase.DECODE,),
        why="what a layer makes of one token of each sequence, beyond the logits",
        source=source,
        evidence=evidence,
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
                source="weights and blocks are allocated once, when the engine starts",
                evidence=Evidence.ASSUMED,
            )
        if line.category is Category.TEMPORARY:
            moved = replace(line, why="matrix products have a scratch buffer")
        yield replace(moved, phases=SERVING_PHASES)
