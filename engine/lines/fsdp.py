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

from collections.abc import Iterator

from sympy import Expr
from sympy.polys.rings import PolyElement

from engine.ledger import Category, Evidence, Line, Phase
from engine.stacks.block import Block
from engine.stacks.tapes import head
from engine.structure import Structure
from engine.symbols import RING, N, P_dense_shard, P_ends_shard, P_layer_shard, expression
from engine.tape import total_gradients

FSDP = "PyTorch documentation, torch.distributed.fsdp.fully_shard; traced with PyTorch 2.13"
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)


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
        *_gathered(structure),
        (
            "the head's gradient, waiting",
            expression(of_top(structure)),
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


def _gathered(structure: Structure) -> Iterator[tuple[str, Expr, tuple[Phase, ...], str]]:
    """Yield what is gathered of the layers: what it is, its bytes, when, and why."""
    each, uneven = structure.precision.compute, structure.uneven
    first, last = whole(structure.first_layer), whole(structure.last_layer)
    ahead = (Phase.FORWARD, Phase.LOSS)
    why = "a layer is whole while it runs"
    yield (
        "gathered layer",
        expression(each * last),
        ahead if uneven else (*ahead, Phase.BACKWARD_LAST),
        f"{why}, and the last one is fetched ahead of its backward",
    )
    if uneven:
        yield "gathered first layer", expression(each * first), (Phase.BACKWARD_LAST,), why
    yield (
        "gathered layers",
        expression(each * (last + whole(structure.from_top(1)))),
        (Phase.BACKWARD_FIRST,),
        "while a layer runs backward the next one is being gathered",
    )


def _held_for_replicas(structure: Structure) -> Line:
    above = shards_above_first(structure)
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


def shards_above_first(structure: Structure) -> PolyElement:
    """Return the elements of all layers' shards but the first one's."""
    *others, (last, count) = structure.kinds
    above = sum((many * share(block) for block, many in others), count * share(last))
    elements: PolyElement = above - share(structure.first_layer)
    return elements


def of_top(structure: Structure) -> PolyElement:
    """Return the bytes of the gradients of final norm and head, which wait for the embedding's."""
    return total_gradients(head(structure.block))


def share(block: Block) -> PolyElement:
    """Return the elements of a layer's shard."""
    elements: PolyElement = RING(P_dense_shard if block.experts_elsewhere else P_layer_shard)
    return elements


def whole(block: Block) -> PolyElement:
    """Return the elements of a gathered layer.

    A gathered tensor is as many shards as there are ranks, and shards are padded to whole rows.
    """
    elements: PolyElement = RING(N) * share(block)
    return elements
