"""What data parallelism adds to a rank: buckets, gathered layers, reduce-scatter inputs."""

from collections.abc import Iterator

from sympy import Integer, Min

from engine.ledger import ALL_PHASES, Category, Evidence, Line, Phase
from engine.lines.states import FSDP
from engine.structure import Structure
from engine.symbols import P, P_ends, P_layer

BUCKET = Integer(500_000_000)
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)
DEEPSPEED = "deepspeedai/DeepSpeed documentation, reduce_bucket_size (default 5e8 elements)"


def lines(structure: Structure) -> Iterator[Line]:
    """Yield what ranks exchange through; nothing where there is one."""
    if not structure.many:
        return
    if structure.sharded:
        yield from _gathered(structure)
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
            evidence=Evidence.ASSUMED,
        )


def _gathered(structure: Structure) -> Iterator[Line]:
    each = structure.precision.compute
    reduced = structure.precision.stepped
    yield Line(
        name="gathered embedding and head",
        category=Category.COMMUNICATION,
        size=each * P_ends,
        phases=(Phase.FORWARD, Phase.LOSS, *BACKWARD),
        why="the root group is gathered once and stays whole until its backward",
        source=FSDP,
        evidence=Evidence.TRACED,
    )
    yield Line(
        name="gathered layers",
        category=Category.COMMUNICATION,
        size=each * P_layer,
        phases=(Phase.LOSS, Phase.BACKWARD_LAST),
        why="a layer is whole while it runs; at the loss the last one has been fetched ahead",
        source=FSDP,
        evidence=Evidence.TRACED,
    )
    yield Line(
        name="gathered layers, one ahead",
        category=Category.COMMUNICATION,
        size=2 * each * P_layer,
        phases=(Phase.BACKWARD_FIRST,),
        why="while a layer runs backward the next one is being gathered",
        source=FSDP,
        evidence=Evidence.TRACED,
    )
    yield Line(
        name="reduce-scatter input",
        category=Category.COMMUNICATION,
        size=reduced * P_layer,
        phases=BACKWARD,
        why=f"a layer's gradients are copied to {reduced} bytes each to be reduced",
        source=FSDP,
        evidence=Evidence.TRACED,
    )
