"""ZeRO-3 as FSDP2 does it: what is gathered, what waits to be reduced, and when.

Read from a traced step of `fully_shard` on every layer and on the root (PyTorch 2.13). A group's
all-gather fills a flat buffer that is copied into whole tensors, and lives until the next
group's. A group's gradients are copied into one reduce-scatter input, which lives until the next
group's. The root group holds embedding, final norm and head; it is whole from the forward pass
on, and its gradients are reduced last.

Shards on the host (CPUOffloadPolicy) are copied one tensor after another into what is cast and
gathered, where shards on the GPU are cast all at once: the same bytes. A reduced gradient goes
back when it has come. So the GPU has what is gathered and reduced, and no model states.
"""

from collections.abc import Iterable, Iterator

from sympy.polys.rings import PolyElement

from engine.autograd import backward
from engine.ledger import Category, Evidence, Line, Phase
from engine.stacks.tapes import embedding, head, layer
from engine.structure import Structure
from engine.symbols import RING, L, N, P_ends_shard, P_layer_shard, V, b, expression, h, s
from engine.tape import total_gradients

FSDP = "PyTorch documentation, torch.distributed.fsdp.fully_shard; traced with PyTorch 2.13"
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)
_share = RING(P_layer_shard)
# A gathered tensor is as many shards as there are ranks, and shards are padded to whole rows.
_layer, _ends = RING(N) * _share, RING(N) * RING(P_ends_shard)
_head = RING(V) * RING(h)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what a rank holds beyond its shards."""
    each = structure.precision.compute
    for name, size, phases, why in (
        (
            "gathered embedding and head",
            each * N * P_ends_shard,
            (Phase.FORWARD, Phase.LOSS, *BACKWARD),
            "the root group is gathered once and stays whole until its backward",
        ),
        (
            "gathered layer",
            each * N * P_layer_shard,
            (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD_LAST),
            "a layer is whole while it runs, and the last one is fetched ahead of its backward",
        ),
        (
            "gathered layers",
            2 * each * N * P_layer_shard,
            (Phase.BACKWARD_FIRST,),
            "while a layer runs backward the next one is being gathered",
        ),
        (
            "the head's gradient, waiting",
            expression(_top(structure)),
            BACKWARD,
            "the root group is reduced last, so its gradients stay whole until then",
        ),
    ):
        yield Line(
            name=name,
            category=Category.COMMUNICATION,
            size=size,
            phases=phases,
            why=why,
            source=FSDP,
            evidence=Evidence.TRACED,
        )
    if structure.replicated and (structure.accumulates or structure.offloaded):
        yield _held_for_replicas(structure)


def _held_for_replicas(structure: Structure) -> Line:
    above = (RING(L) - 1) * _share
    beside = "beside the older one that it was added to"
    return Line(
        name="reduced gradients of the layers above",
        category=Category.COMMUNICATION,
        size=expression(structure.precision.stepped * above),
        phases=(Phase.BACKWARD_LAST,),
        why="a gradient that other replicas add to is held until the root's backward is over, "
        f"{'though it has gone to the host' if structure.offloaded else beside}",
        source=f"{FSDP}; _fsdp_param_group.py, AllReduceState",
        evidence=Evidence.TRACED,
    )


def forward_moments(structure: Structure) -> Iterator[PolyElement]:
    """Yield the gathering of the first layer, less all that the phase counts as saved."""
    each = structure.precision.compute
    body, top = layer(structure.block), head(structure.block)
    saved = RING(L) * body.counted_bytes + top.counted_bytes
    yield each * (_ends + _layer) + _stream(structure) - saved


def inside_forward(structure: Structure, moments: Iterable[PolyElement]) -> list[PolyElement]:
    """Return the moments of the last layer, relative to the phase.

    `moments` are those of the layer, less what it and the head save. Its buffer and its whole
    tensors are alive at once; while it is copied out, the buffer of the layer before is too.
    """
    each = structure.precision.compute
    body, top = layer(structure.block), head(structure.block)
    copied_out = 2 * each * _layer + _stream(structure) - body.counted_bytes - top.counted_bytes
    return [*(moment + each * _layer for moment in moments), copied_out]


def loss_moments(structure: Structure) -> Iterator[PolyElement]:
    """Yield the end of the head's backward: its gradient, and the last layer being gathered."""
    each = structure.precision.compute
    gathering = each * (_layer + _cast(structure))
    yield _top(structure) + gathering + _stream(structure) - head(structure.block).saved_bytes


def last_layer(structure: Structure) -> Iterator[PolyElement]:
    """Yield the moments of the last layer and of the one below it, relative to the phase."""
    body = layer(structure.block)
    reduced = structure.precision.stepped
    own = [moment - body.saved_bytes for moment in backward(body, keeps_gradients=True)]
    yield from own
    above = reduced * _layer - body.saved_bytes
    yield from (moment + above + reduced * _kept(structure) for moment in own)
    # Two layers are done, the next is whole and the one below it is being gathered.
    gathering = above + structure.precision.compute * _cast(structure) + _stream(structure)
    yield gathering + 2 * reduced * _kept(structure) - body.saved_bytes


def first_layer(structure: Structure) -> Iterator[PolyElement]:
    """Yield the two first layers, embedding and the root's reduction, relative to the phase."""
    each, reduced = structure.precision.compute, structure.precision.stepped
    body, bottom = layer(structure.block), embedding(structure.block)
    kept = reduced * _kept(structure)
    for moment in backward(body, keeps_gradients=True):
        second = moment + each * _layer + reduced * _layer - kept
        yield from (second, moment - body.saved_bytes + reduced * _layer)
    done = body.saved_bytes + each * _layer - kept
    for moment in backward(bottom, keeps_gradients=True):
        yield moment - bottom.saved_bytes - done + reduced * _layer
    copied_in = reduced * _ends - _top(structure)
    # The root's last gradient is still referred to when the result of the reduction is made.
    last_is_head = not structure.block.tied and not structure.block.head_bias
    lingers = each * _head if last_is_head else 0
    out = reduced * (_ends + RING(P_ends_shard))
    reduced_out = out + lingers - each * _ends - _top(structure)
    for root in (copied_in, reduced_out):
        yield root - done - bottom.saved_bytes


def _top(structure: Structure) -> PolyElement:
    """Return the bytes of the gradients of final norm and head, which wait for the embedding's."""
    return total_gradients(head(structure.block))


def _cast(structure: Structure) -> PolyElement:
    """Return the elements of a layer's shard that are cast, or come, before it is gathered."""
    casts = structure.precision.stepped != structure.precision.compute
    elements: PolyElement = _share if casts or structure.weights_on_host else RING.zero
    return elements


def _kept(structure: Structure) -> PolyElement:
    """Return the elements of a layer's reduced gradient that stay.

    None where it is added to an older one, or goes to the host; but what replicas sum up is held
    until the root is done.
    """
    leaves = structure.accumulates or structure.offloaded
    kept: PolyElement = RING.zero if leaves and not structure.replicated else _share
    return kept


def _stream(structure: Structure) -> PolyElement:
    stream: PolyElement = structure.precision.residual * RING(b) * RING(s) * RING(h)
    return stream
