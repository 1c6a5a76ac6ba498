"""ZeRO-1 and 2 beyond the shares of the paper: the bucket, copies, and gradients of cut weights.

Read from a traced step of `engine.verify.zero`, which allocates what DeepSpeed's optimizer does.
"""

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr, Integer
from sympy.polys.rings import PolyElement

from engine.autograd import arrivals, backward
from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.reducing import BUCKET
from engine.stacks.parts import FINAL_NORM
from engine.stacks.tapes import embedding, head, layer
from engine.structure import Structure
from engine.symbols import (
    RING,
    G_first,
    G_heads,
    G_last,
    G_table,
    J_both,
    J_both_late,
    J_full,
    J_full_late,
    J_own,
    N,
    P,
    P_largest,
    P_piece,
    P_touched,
    R_both,
    R_both_late,
    R_end,
    R_full,
    R_full_late,
    R_last,
    R_loss,
    R_norm,
    R_own,
    R_table,
    V,
    b,
    ceil_div,
    h,
    largest,
    s,
)
from engine.tape import Tape

DEEPSPEED = (
    "deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py (0.19.6) with its defaults: "
    "reduce_bucket_size 5e8, contiguous_gradients, reduce_scatter, no overlap_comm"
)
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)
BEFORE_STEP = tuple(phase for phase in ALL_PHASES if phase is not Phase.STEP)
share = ceil_div(P, N)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield the bucket and what reducing it needs, where gradients go through one."""
    if not structure.bucketed:
        return
    each = structure.precision.weights
    lasts = structure.zero == 1 and structure.accumulates
    yield _line(
        "reduce bucket",
        Category.COMMUNICATION,
        Integer(each * BUCKET),
        BEFORE_STEP if lasts else (*BACKWARD, Phase.REDUCE),
        "gradients go through a bucket of 500 million elements, whatever the model's size; it is "
        "made with the first gradient",
    )
    if structure.offloaded:
        yield _line(
            "room for one gradient",
            Category.COMMUNICATION,
            each * P_largest,
            ALL_PHASES,
            "gradients of earlier micro-batches come back from the host through it",
        )
    yield _line(
        "copies at the end",
        Category.COMMUNICATION,
        each * _at_the_end(structure),
        (Phase.REDUCE,),
        "the last bucket is copied to be summed up, beside a weight too large for the bucket",
    )


def _at_the_end(structure: Structure) -> Expr:
    """Return elements in the phase of reducing, beyond gradients and bucket."""
    already = share
    if structure.zero == 1:
        already = P
    elif structure.lasting_gradients or structure.offloaded:
        already = Integer(0)
    beyond: Expr = R_end - already
    return beyond


def gradients(structure: Structure) -> Iterator[Line]:
    """Yield the gradients of whole weights that a rank keeps of those that its part cuts."""
    if structure.main_gradients or structure.zero != 2:
        return
    each = structure.precision.gradients
    if structure.accumulates:
        yield _line(
            "gradients beyond the share",
            Category.GRADIENTS,
            each * (P_touched - share),
            BEFORE_STEP,
            "a rank keeps whole gradients of the weights that its part cuts",
        )
    for name, phase, kept in (
        ("this rank's gradients, last layer", Phase.BACKWARD_FIRST, G_first),
        ("this rank's gradients, first layer", Phase.BACKWARD_LAST, G_last),
    ):
        yield _line(
            name,
            Category.GRADIENTS,
            each * kept,
            (phase,),
            "room for the whole share is made when its first gradient has been reduced",
        )


def step(structure: Structure) -> Iterator[Line]:
    """Yield what the step holds before the optimizer's own temporaries, and their copies."""
    each, stepped = structure.precision.weights, structure.precision.stepped
    copies = stepped * share
    yield _line(
        "gradients as the step needs them",
        Category.GRADIENTS,
        copies,
        (Phase.STEP,),
        f"flat, {stepped} bytes a parameter" + (", cast to fp32" if stepped != each else ""),
    )
    own = each * P_touched
    norm = own + 8 * P_piece
    flat = own + each * share + (copies if structure.precision.master else 0)
    counted = stepped * at_once(structure) * share + copies
    before = _line(
        "before the step",
        Category.TEMPORARY,
        largest(Integer(0), norm - counted, flat - counted),
        (Phase.STEP,),
        "first the norm of the gradients is taken, in 8 bytes a parameter for one weight after "
        "another; then they are made flat and cast: three copies at once",
    )
    yield replace(before, before_states=True)


def at_once(structure: Structure) -> int:
    """Return the optimizer's temporaries for all that it steps at once.

    Under ZeRO that is one flat tensor. A vector's squared gradient is there beside what is
    made of it.
    """
    optimizer = structure.optimizer
    return optimizer.temporaries + (2 * optimizer.of_one if structure.zero in {1, 2} else 0)


def loss_moments(structure: Structure) -> Iterator[PolyElement]:
    """Yield the end of the head's backward, with the bucket that its gradient goes into."""
    if structure.bucketed and not (structure.zero == 1 and structure.accumulates):
        each = structure.precision.weights
        stream = _stream(structure)
        # A tied head's gradient waits; the final norm's comes when its input is gone.
        streams = stream if structure.block.tied else 2 * stream
        top = head(structure.block)
        yield each * RING(R_loss) + streams - top.saved_bytes
        for moment in backward(_final_norm(top), keeps_gradients=False):
            yield each * RING(R_norm) + moment - top.saved_bytes


def _stream(structure: Structure) -> PolyElement:
    stream: PolyElement = structure.precision.residual * RING(b) * RING(s) * RING(h)
    return stream


def _final_norm(top: Tape) -> Tape:
    """Return the operators of `top` that make what goes to the head."""
    made = [operator.output.name for operator in top.operators]
    return Tape(operators=top.operators[: made.index(FINAL_NORM) + 1])


def layers(structure: Structure) -> Iterator[PolyElement]:
    """Yield the moments at which the bucket is emptied among the layers but the first."""
    if structure.zero != 2:
        return
    each, body = structure.precision.weights, layer(structure.last_layer)
    own = [moment - body.saved_bytes for moment in backward(body, keeps_gradients=False)]
    comes = [moment - body.saved_bytes for moment in arrivals(body)]
    # Behind its attention a layer has the input and the output of its norm, and their gradients.
    late = [4 * _stream(structure)]
    for moments, below, more in (
        (comes, J_full, R_full),
        (own, J_own, R_own),
        (comes, J_both, R_both),
        (late, J_full_late, R_full_late),
        (late, J_both_late, R_both_late),
    ):
        less = each * RING(more) - RING(below) * body.saved_bytes
        yield from (moment + less for moment in moments)


def first_layer(structure: Structure) -> Iterator[PolyElement]:
    """Yield the first layer and the embedding with the copies that their gradients need."""
    if structure.zero == 2:
        each = structure.precision.weights
        body, bottom = layer(structure.last_layer), embedding(structure.block)
        for moment in arrivals(body):
            yield moment - body.saved_bytes + each * RING(R_last)
        for moment in backward(body, keeps_gradients=False):
            yield moment - body.saved_bytes + each * RING(G_heads)
        for moment in backward(bottom, keeps_gradients=False):
            yield moment - body.saved_bytes - bottom.saved_bytes + each * RING(G_table)
        joined = each * RING(V) * RING(h) if structure.block.tied else 0
        yield each * RING(R_table) - joined - body.saved_bytes - bottom.saved_bytes


def _line(name: str, category: Category, size: Expr, phases: tuple[Phase, ...], why: str) -> Line:
    return Line(
        name=name,
        category=category,
        size=size,
        phases=phases,
        why=why,
        source=DEEPSPEED,
        evidence=Evidence.TRACED,
    )
