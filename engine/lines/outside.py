"""What is not a tensor: allocator slack, the CUDA context, NCCL, the cuBLAS workspace."""

from collections.abc import Iterator

from sympy import Integer

from engine.ledger import Category, Evidence, Line
from engine.structure import Structure
from engine.symbols import C_high, C_low, M, W, ceil_div
from engine.units import MIB

HUNDRED = Integer(100)


def lines(structure: Structure) -> Iterator[Line]:
    """Yield the lines between allocated bytes and what nvidia-smi shows, as intervals."""
    yield from around(many=structure.many)


def around(*, many: bool) -> Iterator[Line]:
    """Yield them for one rank, or for one of `many`, which have communicators."""
    yield Line(
        name="cuBLAS workspace",
        category=Category.TEMPORARY,
        size=W,
        why="matrix products have a scratch buffer for each thread: forward and backward",
        source="PyTorch documentation, CUDA semantics: a workspace for each handle and stream",
        evidence=Evidence.ASSUMED,
    )
    yield Line(
        name="allocator slack",
        category=Category.ALLOCATOR_SLACK,
        size=ceil_div(10 * M, HUNDRED),
        low=ceil_div(2 * M, HUNDRED),
        why="PyTorch reserves whole segments: 2 to 10% above the allocated peak where measured",
        source="SimuMax v1.2 docs/b200, 43 Megatron runs on 8 x B200: 2.8 to 9.3%",
        evidence=Evidence.MEASURED,
    )
    yield Line(
        name="CUDA context",
        category=Category.CUDA_CONTEXT,
        size=C_high,
        low=C_low,
        why="driver state and loaded kernels, outside PyTorch's allocator",
        source="the accelerator's row in the catalogue",
        evidence=Evidence.ASSUMED,
    )
    if many:
        yield Line(
            name="NCCL communicator",
            category=Category.CUDA_CONTEXT,
            size=Integer(688 * MIB),
            low=Integer(544 * MIB),
            why="channels and their buffers, outside PyTorch's allocator",
            source="NVIDIA/nccl#964, 4 x A100",
            evidence=Evidence.MEASURED,
        )
