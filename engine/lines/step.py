"""The optimizer's own temporaries."""

from collections.abc import Iterator

from sympy import Expr

from engine.ledger import Category, Evidence, Line, Phase
from engine.lines import muon, zero
from engine.lines.states import held
from engine.state_forms import form_of
from engine.structure import Structure
from engine.symbols import RING, E, N, P, P_largest, V, ceil_div, f, f_d, h, largest_of

STEP = (Phase.STEP,)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what lives only while the optimizer steps."""
    optimizer = structure.optimizer
    if structure.offloaded:
        return
    if optimizer.orthogonalizes:
        yield from muon.step(structure)
        return
    yield from _temporaries(structure)
    if structure.zero in {1, 2} and not structure.main_gradients:
        yield from zero.step(structure)
        return
    if not structure.precision.master or structure.sharded or structure.main_gradients:
        return
    if optimizer.at_once:
        yield Line(
            name="fp32 copies of the gradients",
            category=Category.TEMPORARY,
            size=4 * structure.trained,
            phases=STEP,
            why="the master copy is fp32, so 16-bit gradients are cast before the step",
            source="deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, step",
            evidence=Evidence.TRACED,
        )
    else:
        yield from _one_by_one(structure)


def _temporaries(structure: Structure) -> Iterator[Line]:
    """Yield the optimizer's own, of all parameters or of the largest that it steps."""
    optimizer, each = structure.optimizer, structure.precision.stepped
    at_once = zero.at_once(structure)
    why = ", since all tensors are stepped at once" if optimizer.at_once else ""
    largest = ceil_div(P_largest, N) if structure.sharded else P_largest
    for name, size, made in (
        (
            "optimizer temporaries",
            at_once * each * held(structure, 1),
            optimizer.makes + why,
        ),
        (
            "optimizer temporaries of one tensor",
            (0 if structure.zero in {1, 2} else optimizer.of_one) * each * largest,
            optimizer.makes,
        ),
    ):
        if size != 0:
            yield Line(
                name=name,
                category=Category.TEMPORARY,
                size=size,
                phases=STEP,
                why=f"{made}: {each} bytes a parameter",
                source=optimizer.source,
                evidence=Evidence.TRACED,
            )


def _one_by_one(structure: Structure) -> Iterator[Line]:
    """Yield the copy of the largest gradient, and apart what of it the first step lacks."""
    late = _beside_states(structure)
    why = "a fused step goes tensor by tensor and casts one gradient at a time"
    for name, size, more, early in (
        ("fp32 copy of one gradient", late, "", False),
        (
            "more of that copy",
            4 * P_largest - late,
            "; the first step has the largest before most states, and a smaller one beside them",
            True,
        ),
    ):
        yield Line(
            name=name,
            category=Category.TEMPORARY,
            size=size,
            phases=STEP,
            why=f"{why}{more}",
            source="the reference optimizer (engine/verify/stepper.py)",
            evidence=Evidence.TRACED,
            before_states=early,
        )


def _beside_states(structure: Structure) -> Expr:
    """Return the most that the first step holds in states and one copy, beyond all states.

    It makes the states tensor by tensor, from the embedding to the head, so what counts is the
    last large tensor; or the embedding, where the rest is not worth a copy of it.
    """
    if structure.adapters:
        copy: Expr = 4 * P_largest
        return copy
    block, table, optimizer = structure.last_layer, RING(V) * RING(h), structure.optimizer
    states = 0 if optimizer.paged else optimizer.states * form_of(optimizer).nearly(4)
    width = RING(f_d) if block.experts_elsewhere else RING(f)
    matrix = 4 * width * RING(h) * (RING(E) if block.experts else 1)
    if not block.tied:
        return largest_of([4 * table, matrix - states * table])
    early = (4 + states) * table - states * RING(P)
    return largest_of([matrix, early])
