"""What data parallelism adds to a rank: buckets, or the gathered layers of FSDP2."""

from collections.abc import Iterator

from engine.ledger import ALL_PHASES, Category, Evidence, Line
from engine.lines import fsdp, zero
from engine.structure import Structure


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what ranks exchange through; nothing where there is one."""
    if not (structure.many or structure.offloaded):
        return
    if structure.sharded:
        yield from fsdp.lines(structure)
    elif structure.zero:
        yield from zero.lines(structure)
    elif not structure.main_gradients:
        yield Line(
            name="DDP buckets",
            category=Category.COMMUNICATION,
            size=structure.precision.weights * structure.trained,
            phases=ALL_PHASES,
            why="DDP copies every gradient into buckets that it keeps for good; "
            "gradient_as_bucket_view=True saves them",
            source="PyTorch documentation, DistributedDataParallel: gradient_as_bucket_view",
            evidence=Evidence.TRACED,
        )
