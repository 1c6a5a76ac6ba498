"""The terms in which a GPU computes, for one micro-batch and for the step's end."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.costs import flops, passes
from engine.costs.assumptions import (
    FLOAT8_TIMES,
    FP32_SHARE,
    MEMORY_SHARE,
    MEMORY_SOURCE,
    OPERATOR_LATENCY,
    OPERATOR_SOURCE,
    PRODUCTS_SHARE,
    PRODUCTS_SOURCE,
)
from engine.costs.float8 import casts
from engine.costs.flops import Flops, MicroBatch
from engine.costs.held import Held
from engine.costs.passes import Moved
from engine.costs.terms import Resource, Term
from engine.precisions import PRECISIONS
from engine.settings import Settings
from engine.stages import Stage
from engine.units import GB, TB

FLOPS_SOURCE = "arXiv 2205.05198 appendix A"
PASSES_SOURCE = "counted operator by operator: engine/costs/passes.py"


@dataclass(frozen=True, kw_only=True)
class Computing:
    """What a rank computes in one micro-batch, and how long others can hide behind it.

    Attributes:
        forward: seconds of the forward pass.
        backward: seconds of the backward pass, with what it recomputes.
        attention: seconds of scores and weighted sums, in both.
        column: seconds of the weight gradients of column-parallel matrices.
    """

    terms: tuple[Term, ...]
    forward: float
    backward: float
    attention: float
    column: float


def computing(settings: Settings, stage: Stage, weights: Held) -> Computing:
    """Return what a rank of `stage` computes in one micro-batch."""
    work = flops.micro_batch(settings, stage)
    moved, logits = passes.layers(settings, stage), passes.loss(settings, stage)
    narrowed = casts(settings, stage)
    rate, memory = products_rate(settings), memory_rate(settings)
    all_moved = (moved, logits, narrowed)
    once = sum(one.operators for one in all_moved)
    again = sum(one.operators + one.repeated for one in all_moved)
    passing = sum(one.forward for one in all_moved) / memory + once * OPERATOR_LATENCY
    passing_back = sum(one.backward + one.recomputed for one in all_moved) / memory
    passing_back += again * OPERATOR_LATENCY
    attention = work.forward.attention + work.backward.attention + work.recomputed.attention
    return Computing(
        terms=(
            *_products(settings, work),
            _operands(settings, weights, work),
            *_passes(settings, weights, all_moved),
            _launching(once + again),
        ),
        forward=_seconds(settings, work.forward) + passing,
        backward=_seconds(settings, work.backward, work.recomputed) + passing_back,
        attention=attention / rate,
        column=work.column / rate,
    )


def at_the_end(settings: Settings, weights: Held) -> tuple[Term, ...]:
    """Return the terms of adding up gradients and of stepping, once a step."""
    further = settings.workload.gradient_accumulation - 1
    added = further * passes.added_gradients(settings, weights)
    found = [
        _memory(
            settings,
            "adding up gradients",
            added,
            "each further micro-batch's gradients are added to those before",
        )
    ]
    if settings.offload.optimizer == "none":
        stepped = _memory(
            settings,
            "optimizer step",
            passes.optimizer_step(settings, weights),
            "weights, gradients and states pass through memory once or, kernel by kernel, often",
        )
        found.append(stepped)
    return tuple(term for term in found if term.amount)


def products_rate(settings: Settings) -> float:
    """Return FLOP/s in matrix products: the GPU's measured share of its peak; fp32 is TF32."""
    gpu = settings.hardware.gpu
    peak = gpu.tflops_16bit * TB * (gpu.products_share or PRODUCTS_SHARE)
    return peak * FP32_SHARE if PRECISIONS[settings.recipe.precision].compute == 4 else peak


def products_source(settings: Settings) -> str:
    """Return where the rate of products is from."""
    gpu = settings.hardware.gpu
    return gpu.source if gpu.products_share else PRODUCTS_SOURCE


def memory_rate(settings: Settings) -> float:
    """Return bytes a second through the GPU's memory."""
    return settings.hardware.gpu.bandwidth_gb_s * GB * MEMORY_SHARE


def _narrow(settings: Settings, work: Flops) -> int:
    """Return the FLOPs of `work` that are in float8: those of linear layers, not of the head."""
    return work.linear if PRECISIONS[settings.recipe.precision].float8 else 0


def _seconds(settings: Settings, *works: Flops) -> float:
    narrow = sum(_narrow(settings, work) for work in works)
    wide = sum(work.total for work in works) - narrow
    return (wide + narrow / FLOAT8_TIMES) / products_rate(settings)


def _products(settings: Settings, work: MicroBatch) -> Iterator[Term]:
    rows = (
        ("forward products", work.forward, "2 FLOPs for each weight and token, and attention"),
        ("backward products", work.backward, "gradients of inputs and of weights: twice forward"),
        ("recomputed products", work.recomputed, "what was not kept runs forward once more"),
    )
    rate = products_rate(settings)
    for name, counted, why in rows:
        narrow = _narrow(settings, counted)
        for says, amount, times in (
            (name, counted.total - narrow, 1),
            (f"{name} in float8", narrow, FLOAT8_TIMES),
        ):
            if amount:
                yield Term(
                    name=says,
                    resource=Resource.PRODUCTS,
                    amount=amount,
                    unit="FLOP",
                    rate=times * rate,
                    why=why,
                    source=FLOPS_SOURCE,
                    rate_source=products_source(settings),
                )


def _operands(settings: Settings, weights: Held, work: MicroBatch) -> Term:
    """Return the reading of weights, as far as the products are too short to hide it.

    Experts apart: few tokens may come to each.
    """
    amount = passes.operands(settings, weights)
    busy = amount / memory_rate(settings)
    if not amount:
        return _memory(settings, "operands of products", 0, "nothing to read")
    experts = busy * weights.experts / max(1, weights.matrices)
    parts = (work.forward, work.backward, work.recomputed)
    products = sum(part.experts for part in parts) / products_rate(settings)
    others = _seconds(settings, *(replace(part, experts=0, attention=0) for part in parts))
    waits = max(0.0, experts - products) + max(0.0, busy - experts - others)
    hidden = 1 - waits / busy
    why = "weights are read and their gradients written while products run"
    return _memory(settings, "operands of products", amount, why, hidden=hidden)


def _passes(settings: Settings, weights: Held, all_moved: tuple[Moved, ...]) -> tuple[Term, ...]:
    moved, logits, narrowed = all_moved
    rows = (
        (
            "passes of the layers",
            moved.total,
            "norms, residual adds, rotary, activations and softmax read and write every element",
        ),
        (
            "passes of the loss",
            logits.total,
            "the logits, vocabulary x tokens, pass several times, in fp32 unless fused",
        ),
        (
            "casts to float8",
            narrowed.total,
            "both factors of each product are scaled, clamped and cast, kernel by kernel",
        ),
        (
            "weight casts",
            passes.casts(settings, weights),
            "autocast casts every matrix once in each micro-batch",
        ),
        (
            "matrices made whole",
            passes.made_whole(settings),
            "a matrix in 4 bits is put into 16 for each of its products",
        ),
    )
    return tuple(_memory(settings, name, amount, why) for name, amount, why in rows if amount)


def _launching(operators: int) -> Term:
    return Term(
        name="launching operators",
        resource=Resource.MEMORY,
        amount=operators,
        unit="operator",
        rate=1 / OPERATOR_LATENCY,
        why="each norm, add, rotary, attention and activation takes a moment, however small",
        source=PASSES_SOURCE,
        rate_source=OPERATOR_SOURCE,
    )


def _memory(settings: Settings, name: str, amount: int, why: str, *, hidden: float = 0.0) -> Term:
    return Term(
        name=name,
        resource=Resource.MEMORY,
        amount=amount,
        unit="B",
        rate=memory_rate(settings),
        hidden=hidden,
        why=why,
        source=PASSES_SOURCE,
        rate_source=MEMORY_SOURCE,
    )
