"""Low-rank adapters (LoRA, arXiv 2106.09685) beside frozen matrices, and those in 4 bits.

Which matrices of a layer are adapted, the tensors that are trained then, and what the frozen ones
take in 4 bits: normal floats in blocks of 64, whose scales are quantised again in blocks of 256
(QLoRA, arXiv 2305.14314 section 3).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from engine.architecture import Architecture, Tensor
from engine.settings import Adapters

# The matrices of a layer, as people name them and as `Architecture.tensors` does.
MATRICES: Mapping[str, str] = {
    "query": "query",
    "key": "key",
    "value": "value",
    "output": "attention output",
    "gate": "MLP gate",
    "up": "MLP up",
    "down": "MLP down",
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(MATRICES),
    "attention": ("query", "key", "value", "output"),
    "mlp": ("gate", "up", "down"),
}
BASES = ("16-bit", "4-bit")
# Elements under one scale, and scales under one scale of their own.
BLOCK, BLOCK_OF_SCALES = 64, 256


def targets(adapters: Adapters) -> frozenset[str]:
    """Return the names of the adapted matrices, as typed: those of `MATRICES`, or others."""
    if not adapters.rank:
        return frozenset()
    names = (name.strip() for name in adapters.targets.split(","))
    return frozenset(one for name in names for one in GROUPS.get(name, (name,)))


def trained(tensors: Iterable[Tensor], adapters: Adapters) -> tuple[Tensor, ...]:
    """Return the tensors that are trained: all of `tensors`, or two for each adapted one."""
    if not adapters.rank:
        return tuple(tensors)
    wanted = {MATRICES[name] for name in targets(adapters)}
    return tuple(
        one for tensor in tensors if tensor.name in wanted for one in _pair(tensor, adapters.rank)
    )


def _pair(tensor: Tensor, rank: int) -> Iterator[Tensor]:
    yield replace(tensor, name=f"{tensor.name} adapter, down", rows=rank)
    yield replace(tensor, name=f"{tensor.name} adapter, up", columns=rank)


def missing(architecture: Architecture, adapters: Adapters) -> frozenset[str]:
    """Return those targets, named one by one, that the layers have no matrix for."""
    has = {tensor.name for tensor in architecture.tensors}
    named = {name.strip() for name in adapters.targets.split(",")} - set(GROUPS)
    return frozenset(name for name in named if MATRICES.get(name) not in has)


@dataclass(frozen=True, kw_only=True)
class FourBit:
    """What is in 4 bits, counted over all layers.

    Attributes:
        elements: of the matrices.
        scales: one byte for each block of 64 elements.
        factors: fp32 numbers: one for each 256 scales, and the mean of each matrix's scales.
    """

    elements: int
    scales: int
    factors: int


def four_bit(tensors: Iterable[Tensor], adapters: Adapters) -> FourBit:
    """Return what the frozen matrices of the layers take in 4 bits; nothing on a 16-bit base."""
    held = [t for t in tensors if t.name in MATRICES.values() and adapters.base == "4-bit"]
    return FourBit(
        elements=sum(t.copies * t.size for t in held),
        scales=sum(t.copies * blocks(t.size) for t in held),
        factors=sum(t.copies * (1 + blocks_of_scales(t.size)) for t in held),
    )


def blocks(elements: int) -> int:
    """Return how many scales a matrix of so many elements has."""
    return -(-elements // BLOCK)


def blocks_of_scales(elements: int) -> int:
    """Return how many scales these scales have."""
    return -(-blocks(elements) // BLOCK_OF_SCALES)
