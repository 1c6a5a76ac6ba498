"""What data parallelism adds to a rank: buckets, or the gathered layers of FSDP2."""

from collections.abc import Iterator

from sympy import Integer, Min

from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.lines import fsdp
from engine.structure import Structure
from engine.symbols import P

BUCKET = Integer(500_000_000)
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)
DEEPSPEED = "deepspeedai/DeepSpeed documentation, reduce_bucket_size (default 5e8 elements)"


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what ranks exchange through; nothing where there is one."""
    if not structure.many:
        return
    if structure.sharded:
        yield from fsdp.lines(structure)
    elif structure.zero:
        yield Line(
            name="reduce bucket",
            category=Category.COMMUNICATION,
            size=structure.precision.weights * Min(BUCKET, P),
            phases=(*BACKWARD, Phase.REDUCE),
            why="gradients are gathered into a bucket of 500 million elements to be reduced",
            source=DEEPSPEED,
            evidence=Evidence.ASSUMED,
        )
    elif not structure.main_gradients:
        yield Line(
            name="DDP buckets",
            category=Category.COMMUNICATION,
            size=structure.precision.weights * P,
            phases=ALL_PHASES,
            why="DDP copies every gradient into buckets that it keeps for good; "
            "gradient_as_bucket_view=True saves them",
            source="PyTorch documentation, DistributedDataParallel: gradient_as_bucket_view",
            evidence=Evidence.TRACED,
        )
