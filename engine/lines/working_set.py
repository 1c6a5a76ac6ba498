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
from engine.lines import fsdp, losses, zero
from engine.lines.origin import evidence_of, source_of
from engine.optimizers import optimizers
from engine.stacks.block import Block
from engine.stacks.tapes import embedding, first_layer, head, layer
from engine.structure import Structure
from engine.symbols import V, expression, h, largest, maximal
from engine.tape import ZERO

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
    if structure.sharded:
        inside = fsdp.inside_forward(structure, inside)
        moments.extend(fsdp.forward_moments(structure))
    yield _line(
        structure.block,
        "forward working set",
        Phase.FORWARD,
        _beyond([*moments, *inside], losses.counted(block, Phase.FORWARD)),
        "what the last layer or the head needs for a moment, beyond the logits",
    )


def _loss(structure: Structure) -> Iterator[Line]:
    top = head(structure.block)
    # A tied head's gradient waits for the embedding's.
    keeps = structure.keeps_gradients or structure.block.tied
    moments = [moment - top.saved_bytes for moment in backward(top, keeps_gradients=keeps)]
    if structure.sharded:
        moments.extend(fsdp.loss_moments(structure))
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
        last, first = [*fsdp.last_layer(structure)], [*fsdp.first_layer(structure)]
    else:
        last, first = _backward_moments(structure)
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
