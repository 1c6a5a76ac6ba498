"""What is alive for a moment only: logits and their gradients, and a layer's own backward.

Each line is the most that is alive beyond the lines that its phase has already.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from sympy import Expr
from sympy.polys.rings import PolyElement

from engine.autograd import backward, forward
from engine.ledger import Category, Evidence, Line, Phase
from engine.lines import fsdp, zero
from engine.lines.activations import TRACE
from engine.recipe import OPTIMIZERS
from engine.stacks.tapes import embedding, first_layer, head, layer
from engine.structure import Structure
from engine.symbols import RING, V, b, h, largest_of, s
from engine.tape import ZERO

ENGINE = "PyTorch's autograd engine, replayed on the layer's operators (engine/autograd.py)"
_tokens = RING(b) * RING(s)


def lines(structure: Structure) -> tuple[Line, ...]:
    """Return the logits and the working sets of forward, loss and backward."""
    return _lines(
        replace(
            structure,
            optimizer=OPTIMIZERS["sgd"],
            many=structure.zero > 0,
            accumulates=structure.accumulates,
        )
    )


@cache
def _lines(structure: Structure) -> tuple[Line, ...]:
    """Return the lines, once for all structures that differ in nothing that matters here."""
    return tuple(_all(structure))


def _all(structure: Structure) -> Iterator[Line]:
    if structure.last:
        yield from _logits(structure)
    yield from _forward(structure)
    if structure.last:
        yield from _loss(structure)
    yield from _backward(structure)
    if structure.block.tied and not structure.keeps_gradients:
        yield _waiting(structure)


def _beyond(moments: Iterable[PolyElement], already: PolyElement) -> Expr:
    return largest_of([ZERO, *(moment - already for moment in moments)])


def _logits(structure: Structure) -> Iterator[Line]:
    each = structure.precision.compute
    tokens = b * s
    wide = each != 4
    yield Line(
        name="log-softmax",
        category=Category.LOGITS,
        size=4 * tokens * V,
        phases=(Phase.FORWARD, Phase.LOSS),
        why="cross entropy keeps fp32 log-probabilities of the whole vocabulary",
        source="torch/nn/functional.py, cross_entropy; derivative of _log_softmax",
        evidence=Evidence.TRACED,
    )
    yield Line(
        name="logits" if not wide else "logits and their fp32 copy",
        category=Category.LOGITS,
        size=(each + (4 if wide else 0)) * tokens * V,
        phases=(Phase.FORWARD,),
        why="the head's output, and its upcast for a stable softmax",
        source=TRACE,
        evidence=Evidence.TRACED,
    )
    yield Line(
        name="gradients of log-softmax and logits",
        category=Category.LOGITS,
        size=8 * tokens * V,
        phases=(Phase.LOSS,),
        why="two fp32 tensors over the vocabulary at once, beside the log-probabilities",
        source="torch/nn/functional.py, cross_entropy; derivative of _log_softmax",
        evidence=Evidence.TRACED,
    )


def _forward(structure: Structure) -> Iterator[Line]:
    block = structure.block
    top, body = head(block), layer(block)
    if not structure.last:
        beyond = _beyond((m - body.counted_bytes for m in forward(body)), ZERO)
        yield _line("forward working set", Phase.FORWARD, beyond, "what a layer needs at most")
        return
    counted = 4 if structure.precision.compute == 4 else structure.precision.compute + 4
    inside = [m - body.counted_bytes - top.counted_bytes for m in forward(body)]
    moments = [m - top.counted_bytes for m in forward(top)]
    if structure.sharded:
        inside = fsdp.inside_forward(structure, inside)
        moments.extend(fsdp.forward_moments(structure))
    yield _line(
        "forward working set",
        Phase.FORWARD,
        _beyond([*moments, *inside], counted * _tokens * RING(V)),
        "what the last layer or the head needs for a moment, beyond the logits",
    )


def _loss(structure: Structure) -> Iterator[Line]:
    top = head(structure.block)
    moments = [
        moment - top.saved_bytes
        for moment in backward(top, keeps_gradients=structure.keeps_gradients)
    ]
    if structure.sharded:
        moments.extend(fsdp.loss_moments(structure))
    moments.extend(zero.loss_moments(structure))
    yield _line(
        "backward of the head",
        Phase.LOSS,
        _beyond(moments, 8 * _tokens * RING(V)),
        "the head's weight gradient, where few tokens make it outweigh the logits",
    )


def _backward(structure: Structure) -> Iterator[Line]:
    if structure.sharded:
        last, first = [*fsdp.last_layer(structure)], [*fsdp.first_layer(structure)]
    else:
        last, first = _backward_moments(structure)
        last.extend(zero.layers(structure))
        first.extend(zero.first_layer(structure))
    yield _line(
        "backward of the last layer",
        Phase.BACKWARD_FIRST,
        _beyond(last, ZERO),
        "gradients inside one layer, less the activations it has freed by then",
    )
    yield _line(
        "backward of first layer, embedding",
        Phase.BACKWARD_LAST,
        _beyond(first, ZERO),
        "gradients inside one layer, then the embedding's, which covers every vocabulary row",
    )


def _backward_moments(structure: Structure) -> tuple[list[PolyElement], list[PolyElement]]:
    """Return the moments of the last layer, and of the first with the embedding."""
    keeps = structure.keeps_gradients
    body, bottom = layer(structure.block), layer(structure.block)
    counted = body.saved_bytes
    if structure.first:
        bottom = first_layer(structure.block)
        counted += embedding(structure.block).saved_bytes
    last = [moment - body.saved_bytes for moment in backward(body, keeps_gradients=keeps)]
    return last, [m - counted for m in backward(bottom, keeps_gradients=keeps)]


def _line(name: str, phase: Phase, size: Expr, why: str) -> Line:
    return Line(
        name=name,
        category=Category.TEMPORARY,
        size=size,
        phases=(phase,),
        why=why,
        source=ENGINE,
        evidence=Evidence.TRACED,
    )


def _waiting(structure: Structure) -> Line:
    return Line(
        name="the head's gradient, waiting",
        category=Category.TEMPORARY,
        size=structure.precision.weights * V * h,
        phases=(Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST),
        why="head and embedding share a tensor: its two gradients are added before they count",
        source=ENGINE,
        evidence=Evidence.TRACED,
    )
