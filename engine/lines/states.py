"""Model states: weights, master copy, gradients, optimizer states, and who holds which share."""

from collections.abc import Iterator

from sympy import Expr, Integer
from sympy.polys.rings import PolyElement

from engine.architecture import NORM_VECTORS
from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.lines import adapters, fsdp, zero
from engine.lines.fsdp import FSDP
from engine.state_forms import PAGED, form_of
from engine.structure import Sharing, Structure
from engine.symbols import (
    RING,
    L,
    N,
    N_experts,
    P,
    P_a_layer,
    P_ends,
    P_experts,
    P_layer,
    P_paged,
    P_shard,
    V,
    ceil_div,
    expression,
    h,
)

AFTER_BACKWARD = (Phase.REDUCE, Phase.STEP)
ZERO_PAPER = "arXiv 1910.02054 (ZeRO) section 5"
EMA = "torch/optim/swa_utils.py, AveragedModel; huggingface/diffusers EMAModel keeps fp32"
NUMBERS = ("no", "one", "two", "three", "four", "five")


def lines(structure: Structure) -> Iterator[Line]:
    """Yield the model states of one rank, and the gradients that come before all are there."""
    yield from model_states(structure)
    if structure.offloaded:
        return
    if structure.zero == 2:
        yield from zero.gradients(structure)
    elif not structure.lasting_gradients:
        yield from _partial_gradients(structure)


def model_states(sharing: Sharing) -> Iterator[Line]:
    """Yield weights, master copy, gradients and optimizer states, over P and N alone.

    Where adapters are trained: over the parameters of adapters and of frozen matrices too.
    """
    if sharing.adapters:
        yield from adapters.weights(sharing)
    elif not sharing.weights_on_host:
        yield _weights(sharing)
    if sharing.offloaded:
        return
    if sharing.precision.master and not sharing.sharded:
        yield _master(sharing)
    if sharing.ema != "none":
        yield _average(sharing)
    yield _gradients(sharing)
    if sharing.optimizer.states:
        yield _optimizer_states(sharing)
    if sharing.optimizer.paged:
        yield _paged(sharing)


def held(structure: Sharing, first_stage: int) -> Expr:
    """Return the elements that the fullest rank holds of what is sharded from `first_stage` on.

    They are those that have gradients and states: the trained ones.
    """
    elements = structure.trained
    if structure.zero < first_stage:
        return elements
    if structure.sharded:
        return P_shard
    share: Expr = ceil_div(elements, N)
    if structure.experts_apart:
        share = ceil_div(elements - P_experts, N) + ceil_div(P_experts, N_experts)
    return share


def _share(structure: Sharing, first_stage: int) -> str:
    if structure.zero >= first_stage:
        apart = ", experts' on each of those that have them" if structure.experts_apart else ""
        return f", a share on each of the N ranks{apart} (ZeRO-{structure.zero})"
    return ", whole on every rank" if structure.many else ""


def _weights(structure: Sharing) -> Line:
    each = structure.precision.weights
    if structure.sharded:
        each = structure.precision.stepped
        fp32 = " in fp32, which is the master copy too" if structure.precision.master else ""
        return Line(
            name="weights",
            category=Category.WEIGHTS,
            size=each * P_shard,
            why=f"{each} bytes a parameter{fp32}; each rank holds its rows of every tensor",
            source=FSDP,
        )
    return Line(
        name="weights",
        category=Category.WEIGHTS,
        size=each * P,
        why=f"{each} bytes a parameter{_share(structure, 3)}",
        source=structure.precision.source,
    )


def _master(structure: Sharing) -> Line:
    return Line(
        name="master copy",
        category=Category.MASTER_WEIGHTS,
        size=structure.precision.master * held(structure, 1),
        why=f"fp32 weights that the optimizer steps, 4 bytes a parameter{_share(structure, 1)}",
        source=structure.precision.source if not structure.zero else ZERO_PAPER,
    )


def _average(sharing: Sharing) -> Line:
    as_wide = sharing.precision.stepped if sharing.sharded else sharing.precision.weights
    each = 4 if sharing.ema == "fp32" else as_wide
    where = ", whole on every rank" if sharing.many else ""
    if sharing.sharded:
        where = "; each rank averages its rows of every tensor"
    return Line(
        name="average of the weights",
        category=Category.WEIGHTS,
        size=each * held(sharing, 3),
        why=f"an exponential moving average of the trained weights (EMA), {each} bytes a "
        f"parameter, held as the weights are{where}",
        source=EMA,
        evidence=Evidence.TRACED,
    )


def _gradients(sharing: Sharing) -> Line:
    each = _gradient_bytes(sharing)
    lasting = sharing.lasting_gradients
    why = "alive in every phase, since they add up" if lasting else "alive after the backward"
    return Line(
        name="gradients",
        category=Category.GRADIENTS,
        size=each * held(sharing, 2),
        phases=_gradient_phases(sharing),
        why=f"{each} bytes a parameter{_share(sharing, 2)}; {why}",
        source=ZERO_PAPER if sharing.zero else sharing.precision.source,
    )


def _gradient_phases(sharing: Sharing) -> tuple[Phase, ...]:
    if sharing.main_gradients:
        return ALL_PHASES
    phases = ALL_PHASES if sharing.lasting_gradients else AFTER_BACKWARD
    # Under ZeRO-1 and 2 the step begins by copying the rank's share and letting the rest go.
    return tuple(p for p in phases if p is not Phase.STEP or sharing.zero in {0, 3})


def _gradient_bytes(sharing: Sharing) -> int:
    return sharing.precision.stepped if sharing.sharded else sharing.precision.gradients


def _partial_gradients(structure: Structure) -> Iterator[Line]:
    for name, phase, elements, why in _partial(structure):
        yield Line(
            name=name,
            category=Category.GRADIENTS,
            size=_size(structure, elements),
            phases=(phase,),
            why=why,
            source="order of the backward pass",
        )


def _size(structure: Structure, elements: PolyElement) -> Expr:
    each = _gradient_bytes(structure)
    return expression(each * elements)


def _partial(structure: Structure) -> Iterator[tuple[str, Phase, PolyElement, str]]:
    """Yield which gradients are there before the backward pass is over, and when."""
    why = "when the backward pass reaches the first layer all others have theirs"
    if structure.sharded:
        above = fsdp.shards_above_first(structure)
        yield "gradients of the layers above", Phase.BACKWARD_LAST, above, why
        return
    if structure.adapters:
        above = (RING(L) - 1) * RING(P_a_layer)
        yield "gradients of the layers above", Phase.BACKWARD_LAST, above, why
        return
    top = _top(structure)
    yield (
        "gradients of the head",
        Phase.BACKWARD_FIRST,
        top,
        "the backward pass has made these before it reaches the last layer",
    )
    above = RING(P) - RING(P_layer) - RING(P_ends) + top
    yield "gradients of the layers above", Phase.BACKWARD_LAST, above, why


def _top(structure: Structure) -> PolyElement:
    """Return the parameters of final norm and head, whose gradients come first."""
    norms = NORM_VECTORS[structure.block.norm]
    bias = RING(V) if structure.block.head_bias else 0
    first: PolyElement = norms * RING(h) + bias + RING(V) * RING(h)
    return first


def _optimizer_states(structure: Sharing) -> Line:
    optimizer, each = structure.optimizer, structure.precision.stepped
    form, states = form_of(optimizer), f"{NUMBERS[optimizer.states]} {optimizer.called}"
    size, left_out = form.size(held(structure, 1), each), ""
    if optimizer.paged:
        size -= form.nearly(each) * P_paged
        left_out = f"; without what is paged, of tensors of {PAGED:,} elements or more"
    return Line(
        name="optimizer states",
        category=Category.OPTIMIZER_STATE,
        size=optimizer.states * size,
        why=f"{form.why(states, each)}{_share(structure, 1)}{left_out}",
        source=ZERO_PAPER if structure.zero and not optimizer.paged else optimizer.source,
    )


def _paged(structure: Sharing) -> Line:
    """Return the states in unified memory: between none and all of them are on the GPU."""
    optimizer, each = structure.optimizer, structure.precision.stepped
    width = form_of(optimizer).nearly(each)
    wide = f"{width} bytes" if width > 1 else "a byte"
    states = f"{NUMBERS[optimizer.states]} {optimizer.called} of {wide} a parameter"
    return Line(
        name="paged optimizer states",
        category=Category.UNIFIED_MEMORY,
        size=optimizer.states * width * P_paged,
        low=Integer(0),
        why=f"{states} in unified memory, beside PyTorch's allocator: on the GPU while there is "
        f"room, and on the host where there is none; so between none and all of them is here",
        source=optimizer.source,
        evidence=Evidence.ASSUMED,
    )
