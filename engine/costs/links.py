"""Which wire a group of ranks uses, and how fast it is.

Ranks are numbered with tensor parallelism innermost, then context, then data with the experts
inside it, then pipeline, and fill node after node. So the ranks of a group stand `stride` apart.
Source: NVIDIA/Megatron-LM megatron/core/parallel_state.py, order "tp-cp-ep-dp-pp".
"""

from dataclasses import dataclass, replace

from engine.accelerator import Accelerator
from engine.costs.assumptions import (
    LINK_SHARE,
    LINK_SOURCE,
    NETWORK_LATENCY,
    NODE_LATENCY,
    PCIE_SHARE,
    PCIE_SOURCE,
)
from engine.settings import Settings
from engine.units import GB


@dataclass(frozen=True, kw_only=True)
class Group:
    """Ranks that communicate: how many, and how far apart two neighbours are."""

    size: int
    stride: int

    @property
    def span(self) -> int:
        """Ranks from the first to the last, those of other groups between them too."""
        return self.size * self.stride


@dataclass(frozen=True, kw_only=True)
class Link:
    """A wire.

    Attributes:
        rate: bytes a second that one rank of a group sends over it.
        latency: seconds that each message takes beyond its bytes.
    """

    name: str
    rate: float
    latency: float
    source: str


def tensor(settings: Settings) -> Group:
    """Return the tensor-parallel group, the innermost."""
    return Group(size=settings.parallel.tensor, stride=1)


def context(settings: Settings) -> Group:
    """Return the context-parallel group."""
    return Group(size=settings.parallel.context, stride=settings.parallel.tensor)


def expert(settings: Settings) -> Group:
    """Return the expert-parallel group, which lies inside data."""
    parallel = settings.parallel
    return Group(size=parallel.expert, stride=parallel.tensor * parallel.context)


def sharing(settings: Settings) -> Group:
    """Return the ranks that hold the same weights, data x context, or share a sharded copy."""
    return Group(size=settings.parallel.shards, stride=settings.parallel.tensor)


def copies(settings: Settings) -> Group:
    """Return the ranks that hold the same shard, where groups of ranks share a copy each."""
    parallel = settings.parallel
    size = parallel.sharing // parallel.shards
    return Group(size=size, stride=parallel.tensor * parallel.shards)


def replicas(settings: Settings) -> Group:
    """Return the ranks that hold the same experts."""
    parallel = settings.parallel
    size = max(1, parallel.sharing // parallel.expert)
    return Group(size=size, stride=parallel.tensor * parallel.expert)


def pipeline(settings: Settings) -> Group:
    """Return the pipeline group, the outermost."""
    parallel = settings.parallel
    return Group(size=parallel.pipeline, stride=parallel.tensor * parallel.sharing)


def ring(gpu: Accelerator, group: Group) -> Link:
    """Return the link of an all-reduce, all-gather or reduce-scatter.

    Over several nodes NCCL runs a ring for each of the group's ranks in a node, each over the
    network card of another, so that k of them send k times what one card carries: on 4 nodes of
    8 x H200 with 50 GB/s a card, 365 GB/s were measured for an all-reduce of 32 ranks
    (stas00/ml-engineering, network), above seven cards' worth.
    """
    if group.span <= gpu.gpus_per_node:
        return _inside(gpu, group)
    members = max(1, gpu.gpus_per_node // group.stride)
    wire = _network(gpu, members)
    if members == 1:
        return wire
    within = _inside(gpu, Group(size=members, stride=group.stride))
    return wire if wire.rate <= within.rate else replace(within, latency=wire.latency)


def neighbours(gpu: Accelerator, group: Group) -> Link:
    """Return the link between two neighbours: one network card where the group leaves a node."""
    if group.span <= gpu.gpus_per_node:
        return _inside(gpu, group)
    return _network(gpu, 1)


def pairs(gpu: Accelerator, group: Group) -> Link:
    """Return the link of an all-to-all: what goes to other nodes has the rank's own card only."""
    if group.span <= gpu.gpus_per_node:
        return _inside(gpu, group)
    members = max(1, gpu.gpus_per_node // group.stride)
    wire = _network(gpu, 1)
    leaves = (group.size - members) / (group.size - 1)
    return replace(wire, rate=wire.rate / leaves)


def _inside(gpu: Accelerator, group: Group) -> Link:
    if gpu.nvlink_gb_s and group.span <= gpu.nvlink_gpus:
        rate = gpu.nvlink_gb_s * GB * LINK_SHARE
        return Link(name="NVLink", rate=rate, latency=NODE_LATENCY, source=LINK_SOURCE)
    rate = gpu.pcie_gb_s * GB * PCIE_SHARE
    return Link(name="PCIe", rate=rate, latency=NODE_LATENCY, source=PCIE_SOURCE)


def _network(gpu: Accelerator, cards: int) -> Link:
    rate = cards * gpu.network_gb_s * GB * LINK_SHARE
    return Link(name="network", rate=rate, latency=NETWORK_LATENCY, source=LINK_SOURCE)
