"""What is alive for a moment only: logits and their gradients, and a layer's own backward.

Each line is the most that is alive beyond the lines that its phase has already.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from sympy import Expr
from sympy.polys.rings import PolyElement

from engine.autograd import backward, forward
from engine.ledger import Category, Line, Phase
from engine.lines import fsdp_moments, losses, zero
from engine.lines.origin import evidence_of, source_of
from engine.optimizers import optimizers
from engine.stacks.block import Block
from engine.stacks.tapes import embedding, first_layer, head, layer
from engine.structure import Structure
from engine.symbols import RING, D, L, V, expression, h, largest, maximal
from engine.tape import ZERO, total_gradients

ENGINE = "PyTorch's autograd engine, replayed on the layer's operators (engine/autograd.py)"


def lines(structure: Structure) -> tuple[Line, ...]:
    """Return the logits and the working sets of forward, loss and backward."""
    return _lines(replace(structure, optimizer=optimizers()["sgd"]))


@cache
def _lines(structure: Structure) -> tuple[Line, ...]:
    """Return the lines, once for all structures that differ in nothing that matters here."""
    return tuple(_all(structure))


def _all(structure: Structure) -> Iterator[Line]:
    if structure.last:
        yield from losses.lines(structure.block)
    yield from _forward(structure)
    if structure.last:
        yield from _loss(structure)
    yield from _backward(structure)
    if structure.block.tied and not (structure.keeps_gradients or structure.adapters):
        yield _waiting(structure)


def _beyond(moments: Iterable[PolyElement], already: PolyElement) -> Expr:
    return _most(tuple(dict.fromkeys(moments)), already)


@cache
def _most(moments: tuple[PolyElement, ...], already: PolyElement) -> Expr:
    """Return the most of `moments` beyond `already`, once for all structures that come to them."""
    # Which one covers another does not depend on what is taken from all of them.
    kept = maximal([already, *moments])
    return largest(*(expression(one - already) for one in kept))


def _forward(structure: Structure) -> Iterator[Line]:
    block = structure.block
    top, body = head(block), layer(structure.last_layer)
    if not structure.last:
        beyond = _beyond((m - body.counted_bytes for m in forward(body)), ZERO)
        why = "what a layer needs at most"
        yield _line(block, "forward working set", Phase.FORWARD, beyond, why)
        return
    saved = body.counted_bytes
    if structure.saves_on_host:  # only what autocast has cached is counted by a line
        saved -= body.saved_bytes
    inside = [m - saved - top.counted_bytes for m in forward(body)]
    moments = [m - top.counted_bytes for m in forward(top)]
    if structure.uneven:
        moments.extend(_forward_without_experts(structure))
    if structure.sharded:
        inside = fsdp_moments.inside_forward(structure, inside)
        moments.extend(fsdp_moments.forward_moments(structure))
    yield _line(
        structure.block,
        "forward working set",
        Phase.FORWARD,
        _beyond([*moments, *inside], losses.counted(block, Phase.FORWARD)),
        "what the last layer or the head needs for a moment, beyond the logits",
    )


def _forward_without_experts(structure: Structure) -> Iterator[PolyElement]:
    """Yield the last of the layers without experts, less all that the phase counts."""
    dense, other = structure.first_layer, structure.last_layer
    later = (RING(L) - RING(D)) * layer(other).counted_bytes
    for moment in forward(layer(dense)):
        outside = later + layer(dense).counted_bytes + head(structure.block).counted_bytes
        gathered = fsdp_moments.more_gathered(structure) if structure.sharded else ZERO
        yield moment + gathered - outside


def _loss(structure: Structure) -> Iterator[Line]:
    top = head(structure.block)
    # A tied head's gradient waits for the embedding's.
    keeps = structure.keeps_gradients or structure.block.tied
    moments = [moment - top.saved_bytes for moment in backward(top, keeps_gradients=keeps)]
    if structure.sharded:
        moments.extend(fsdp_moments.loss_moments(structure))
    moments.extend(zero.loss_moments(structure))
    yield _line(
        structure.block,
        "backward of the head",
        Phase.LOSS,
        _beyond(moments, losses.counted(structure.block, Phase.LOSS)),
        "the head's weight gradient, where few tokens make it outweigh the logits",
    )


def _backward(structure: Structure) -> Iterator[Line]:
    last, first = _both_ends(_without_loss(structure))
    yield _line(
        structure.block,
        "backward of the last layer",
        Phase.BACKWARD_FIRST,
        last,
        "gradients inside one layer, less the activations it has freed by then",
    )
    yield _line(
        structure.block,
        "backward of first layer, embedding",
        Phase.BACKWARD_LAST,
        first,
        "gradients inside one layer, then the embedding's, which covers every vocabulary row",
    )


def _without_loss(structure: Structure) -> Structure:
    """Return the switches with one name for all losses that hand on the same tied gradient."""
    loss = "chunked" if structure.block.loss == "chunked" else "eager"
    return replace(structure, block=replace(structure.block, loss=loss))


@cache
def _both_ends(structure: Structure) -> tuple[Expr, Expr]:
    """Return what the backward needs at most of the last layer, and of the first."""
    if structure.sharded:
        last, first = [*fsdp_moments.last_layer(structure)], [*fsdp_moments.first_layer(structure)]
    else:
        last, first = _backward_moments(structure)
        if structure.uneven:
            last.extend(_between(structure))
        last.extend(zero.layers(structure))
        first.extend(zero.first_layer(structure))
    return _beyond(last, ZERO), _beyond(first, ZERO)


def _backward_moments(structure: Structure) -> tuple[list[PolyElement], list[PolyElement]]:
    """Return the moments of the last layer, and of the first with the embedding."""
    keeps = structure.keeps_gradients
    body, bottom = layer(structure.last_layer), layer(structure.first_layer)
    counted = bottom.saved_bytes
    if structure.first:
        bottom = first_layer(structure.first_layer)
        counted += embedding(structure.block).saved_bytes
    last = [moment - body.saved_bytes for moment in backward(body, keeps_gradients=keeps)]
    return last, [m - counted for m in backward(bottom, keeps_gradients=keeps)]


def _between(structure: Structure) -> Iterator[PolyElement]:
    """Yield the lowest layer with experts and those below it but the first, relative to the phase.

    In between memory is linear, but what a layer lets go and what its gradients take differ.
    """
    keeps, count = structure.keeps_gradients, RING(L) - RING(D)
    own, below = layer(structure.last_layer), layer(structure.first_layer)
    of_own, of_below = (
        (total_gradients(tape) if keeps else ZERO) - tape.saved_bytes for tape in (own, below)
    )
    for moment in backward(own, keeps_gradients=keeps):
        yield moment - own.saved_bytes + (count - 1) * of_own
    if structure.dense > 1:
        highest = count * of_own - below.saved_bytes
        for moment in backward(below, keeps_gradients=keeps):
            yield moment + highest
            yield moment + highest + (RING(D) - 2) * of_below


def _line(block: Block, name: str, phase: Phase, size: Expr, why: str) -> Line:
    return Line(
        name=name,
        category=Category.TEMPORARY,
        size=size,
        phases=(phase,),
        why=why,
        source=source_of(block, ENGINE),
        evidence=evidence_of(block),
    )


def _waiting(structure: Structure) -> Line:
    return Line(
        name="the head's gradient, waiting",
        category=Category.TEMPORARY,
        size=structure.precision.weights * V * h,
        phases=(Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST),
        why="head and embedding share a tensor: its two gradients are added before they count",
        source=source_of(structure.block, ENGINE),
        evidence=evidence_of(structure.block),
    )
