"""ZeRO-3 as FSDP2 does it: the moments of a pass at which most is gathered, or waits.

Each is relative to what lines count in its phase; `engine.lines.fsdp` says what is known.
"""

from collections.abc import Iterable, Iterator

from sympy.polys.rings import PolyElement

from engine.autograd import backward
from engine.lines.fsdp import of_top, share, whole
from engine.stacks.block import Block
from engine.stacks.tapes import embedding, head, layer
from engine.structure import Structure
from engine.symbols import RING, D, L, N, P_ends_shard, V, b, h, s

BOTH_ENDS = 4  # layers that are not both of the last two and of the first two
_ends, _head = RING(N) * RING(P_ends_shard), RING(V) * RING(h)


def forward_moments(structure: Structure) -> Iterator[PolyElement]:
    """Yield the gathering of the first layer, less all that the phase counts as saved."""
    each = structure.precision.compute
    first, last = whole(structure.first_layer), whole(structure.last_layer)
    saved = head(structure.block).counted_bytes
    for block, count in structure.kinds:
        saved += count * layer(block).counted_bytes
    yield each * (_ends + 2 * first - last) + _stream(structure) - saved


def more_gathered(structure: Structure) -> PolyElement:
    """Return what is gathered in the forward of a first layer beyond what the phase counts."""
    first, last = whole(structure.first_layer), whole(structure.last_layer)
    more: PolyElement = structure.precision.compute * (2 * first - last)
    return more


def inside_forward(structure: Structure, moments: Iterable[PolyElement]) -> list[PolyElement]:
    """Return the moments of the last layer, relative to the phase.

    `moments` are those of the layer, less what it and the head save. Its buffer and its whole
    tensors are alive at once; while it is copied out, the buffer of the layer before is too.
    """
    each = structure.precision.compute
    body, top = layer(structure.last_layer), head(structure.block)
    last, before = whole(structure.last_layer), whole(structure.from_top(1))
    copied_out = (
        each * (last + before) + _stream(structure) - body.counted_bytes - top.counted_bytes
    )
    return [*(moment + each * last for moment in moments), copied_out]


def loss_moments(structure: Structure) -> Iterator[PolyElement]:
    """Yield the end of the head's backward: its gradient, and the last layers being gathered."""
    each, saved = structure.precision.compute, head(structure.block).saved_bytes
    for block in (structure.last_layer, structure.from_top(1)):
        gathering = each * (whole(block) + _cast(structure, block))
        yield of_top(structure) + gathering + _stream(structure) - saved


def last_layer(structure: Structure) -> Iterator[PolyElement]:
    """Yield the moments of the last layers down to the second, relative to the phase.

    Memory is linear in between where layers are alike, so the last two count, and those where
    one without experts is near.
    """
    top, second, third, fourth = (structure.from_top(above) for above in range(4))
    for moment in backward(layer(top), keeps_gradients=True):
        yield moment - layer(top).saved_bytes
    passed = _passed(structure, top)
    yield _copied_out(structure, top, second, passed)
    if structure.dense + structure.with_experts < BOTH_ENDS:
        return  # the second one is one of the first two
    yield from _running(structure, (top, second, third, fourth), passed)
    if structure.uneven:
        yield from _between(structure)


def _between(structure: Structure) -> Iterator[PolyElement]:
    """Yield the lowest layers with experts and the one below, of those above the first two."""
    dense, other = structure.first_layer, structure.last_layer
    behind, each = RING(L) - RING(D), _passed(structure, other)
    if structure.with_experts > 2:
        yield from _running(structure, (other, other, other, dense), (behind - 2) * each)
    if structure.with_experts > 1:
        passed = (behind - 1) * each
        yield _copied_out(structure, other, other, passed)
        if structure.dense > 1:
            yield from _running(structure, (other, other, dense, dense), passed)
    if structure.dense > 1:
        yield _copied_out(structure, other, dense, behind * each)
    if structure.dense > 2:
        yield from _running(structure, (other, dense, dense, dense), behind * each)


def _copied_out(
    structure: Structure, above: Block, own: Block, passed: PolyElement
) -> PolyElement:
    """Return the moment at which a layer is copied out of the buffer that it was gathered in.

    The layer above it is done and waits to be reduced, and its phase is not over.
    """
    each, reduced = structure.precision.compute, structure.precision.stepped
    gathered = each * (2 * whole(own) - _counted(structure))
    moment: PolyElement = gathered + reduced * whole(above) + passed + _stream(structure)
    return moment


def _counted(structure: Structure) -> PolyElement:
    """Return the elements of gathered layers that are counted when the last one runs backward."""
    elements: PolyElement = whole(structure.from_top(0)) + whole(structure.from_top(1))
    return elements


def _running(
    structure: Structure, around: tuple[Block, Block, Block, Block], passed: PolyElement
) -> Iterator[PolyElement]:
    """Yield the moments of a layer below the last, and the end of it, relative to the phase.

    Args:
        structure: has counted the last layer as whole, and the one below it as gathered.
        around: what the layer above it runs, it itself, and the two below it.
        passed: what all layers above it have let go, and what is left of their gradients.
    """
    above, own, below, next_one = around
    each, reduced = structure.precision.compute, structure.precision.stepped
    counted = each * _counted(structure)
    gathered = each * (whole(own) + whole(below)) - counted
    waiting = reduced * whole(above) + passed
    for moment in backward(layer(own), keeps_gradients=True):
        yield moment - layer(own).saved_bytes + gathered + waiting
    # The next layer is whole, and the one below it is being gathered.
    gathering = each * (whole(below) + whole(next_one) + _cast(structure, next_one)) - counted
    done = reduced * whole(own) + passed + _passed(structure, own)
    yield gathering + done + _stream(structure)


def _passed(structure: Structure, block: Block) -> PolyElement:
    """Return what is left of a layer's gradient, less what it has let go."""
    reduced = structure.precision.stepped
    more: PolyElement = reduced * _kept(structure, block) - layer(block).saved_bytes
    return more


def first_layer(structure: Structure) -> Iterator[PolyElement]:
    """Yield the two first layers, embedding and the root's reduction, relative to the phase."""
    each, reduced = structure.precision.compute, structure.precision.stepped
    first, second, third = (structure.from_bottom(below) for below in range(3))
    body, above, bottom = layer(first), layer(second), embedding(structure.block)
    waiting = reduced * (whole(third) - _kept(structure, second))
    for moment in backward(above, keeps_gradients=True):
        yield moment + each * whole(second) + waiting
    yield each * whole(first) + reduced * whole(second) + _stream(structure)
    for moment in backward(body, keeps_gradients=True):
        yield moment - body.saved_bytes + reduced * whole(second)
    done = body.saved_bytes + each * whole(first) - reduced * _kept(structure, first)
    for moment in backward(bottom, keeps_gradients=True):
        yield moment - bottom.saved_bytes - done + reduced * whole(first)
    copied_in = reduced * _ends - of_top(structure)
    # The root's last gradient is still referred to when the result of the reduction is made.
    last_is_head = not structure.block.tied and not structure.block.head_bias
    lingers = each * _head if last_is_head else 0
    out = reduced * (_ends + RING(P_ends_shard))
    reduced_out = out + lingers - each * _ends - of_top(structure)
    for root in (copied_in, reduced_out):
        yield root - done - bottom.saved_bytes


def _cast(structure: Structure, block: Block) -> PolyElement:
    """Return the elements of a layer's shard that are cast, or come, before it is gathered."""
    casts = structure.precision.stepped != structure.precision.compute
    casts = casts or structure.weights_on_host
    elements: PolyElement = share(block) if casts else RING.zero
    return elements


def _kept(structure: Structure, block: Block) -> PolyElement:
    """Return the elements of a layer's reduced gradient that stay.

    None where it is added to an older one, or goes to the host; but what replicas sum up is held
    until the root is done.
    """
    leaves = structure.accumulates or structure.offloaded
    kept: PolyElement = RING.zero if leaves and not structure.replicated else share(block)
    return kept


def _stream(structure: Structure) -> PolyElement:
    stream: PolyElement = structure.precision.residual * RING(b) * RING(s) * RING(h)
    return stream
