"""What keeping the optimizer states on the host costs: transfers, and a step by its processors.

Gradients go down, stepped weights come back: Ψ elements each way, of a rank's ZeRO share. The
states stay where they are on `cpu`; on `nvme` they are read and written too. Gradients go while
the backward pass runs; the step and the way back wait for the last of them.

Where the shards of ZeRO-3 are on the host too, they come each time that they are gathered, for
forward and for backward, and none comes back after the step. On `cpu` that is FSDP2's
CPUOffloadPolicy: fp32 shards, cast on the GPU, and fp32 gradients. They come a layer ahead, as
they are gathered. From the second micro-batch on the backward pass waits for its gradients,
because the host adds them up. On `nvme` it is ZeRO-Infinity: 16-bit shards, read from the drives.
Source: arXiv 2101.06840 (ZeRO-Offload) section 4, arXiv 2104.07857 (ZeRO-Infinity) sections 4 and
5, PyTorch 2.13 torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.costs.assumptions import (
    CPU_ADAM,
    CPU_ADAM_SOURCE,
    NVME_READ,
    NVME_SOURCE,
    NVME_WRITE,
    PCIE_SHARE,
    PCIE_SOURCE,
)
from engine.costs.computing import Computing
from engine.costs.held import Held, stream_tokens
from engine.costs.terms import Resource, Term
from engine.optimizers import costed
from engine.precisions import PRECISIONS
from engine.settings import Settings
from engine.stages import Stage
from engine.units import GB

GATHERED = 2  # times in a micro-batch that ZeRO-3 gathers a layer: for forward and for backward


@dataclass(frozen=True, kw_only=True)
class Offloaded:
    """What one rank's step moves and steps on its host.

    Attributes:
        down: bytes of gradients to the host.
        up: bytes of weights from the host.
        states: bytes of states read from the drives, and written to them again; 0 on `cpu`.
        read: bytes of weights that come from drives on their way up.
        written: bytes of stepped weights that go there.
        parameters: stepped by the processors for this rank.
        neighbours: ranks that share the host.
    """

    down: int
    up: int
    states: int
    read: int = 0
    written: int = 0
    parameters: int
    neighbours: int


def offloaded(settings: Settings, weights: Held) -> Offloaded | None:
    """Return what offloading the optimizer states costs a rank; None where they stay."""
    where = settings.offload.optimizer
    if where == "none":
        return None
    precision = PRECISIONS[settings.recipe.precision]
    kept = precision.master + precision.stepped * costed(settings.recipe.optimizer).states
    mine = weights.owned(settings)
    hardware = settings.hardware
    made = Offloaded(
        down=mine * precision.gradients,
        up=mine * precision.weights,
        states=mine * kept if where == "nvme" else 0,
        parameters=mine,
        neighbours=min(hardware.gpus, hardware.gpu.gpus_per_node),
    )
    return made if settings.offload.parameters == "none" else _with_shards(settings, made)


def _with_shards(settings: Settings, work: Offloaded) -> Offloaded:
    """Return what a rank moves whose shards are on the host too."""
    drives, passes = settings.offload.parameters == "nvme", settings.workload.gradient_accumulation
    precision = PRECISIONS[settings.recipe.precision]
    shard = work.parameters * (precision.weights if drives else precision.stepped)
    up = GATHERED * passes * shard
    return replace(
        work,
        down=passes * shard,
        up=up,
        read=up if drives else 0,
        written=shard if drives else 0,
    )


def terms(settings: Settings, stage: Stage, weights: Held, computes: Computing) -> Iterator[Term]:
    """Yield the terms of an offloaded step, all micro-batches together."""
    work = offloaded(settings, weights)
    if work is None:
        return
    wire = settings.hardware.gpu.pcie_gb_s * GB * PCIE_SHARE
    yield _moved(
        "gradients to the host",
        work.down,
        wire,
        PCIE_SOURCE,
        hidden=_behind(settings, computes, work.down / wire),
    )
    if work.states:
        for name, rate in (("states read", NVME_READ), ("states written", NVME_WRITE)):
            yield _moved(name, work.states, rate / work.neighbours, NVME_SOURCE)
    yield _step(work)
    yield from _weights(settings, stage, work, computes)


def _behind(settings: Settings, computes: Computing, seconds: float) -> float:
    """Return the share of `seconds` in which gradients leave while the backward pass goes on."""
    where, passes = settings.offload.parameters, settings.workload.gradient_accumulation
    leaving = seconds / passes if where == "cpu" else seconds
    window = computes.backward * (passes if where == "nvme" else 1)
    return min(leaving, window) / seconds


def _step(work: Offloaded) -> Term:
    return Term(
        name="step on the host",
        resource=Resource.HOST,
        amount=work.parameters,
        unit="parameter",
        rate=CPU_ADAM / work.neighbours,
        why="the host's processors step what its GPUs own, which its memory paces",
        source="arXiv 2101.06840 section 5",
        rate_source=CPU_ADAM_SOURCE,
    )


def _weights(
    settings: Settings, stage: Stage, work: Offloaded, computes: Computing
) -> Iterator[Term]:
    """Yield the weights' way to the GPU: at the end of the step, or whenever they are gathered."""
    wire = settings.hardware.gpu.pcie_gb_s * GB * PCIE_SHARE
    drive = NVME_READ / work.neighbours
    for name, amount, rate, source in (
        ("weights from the host", work.up, wire, PCIE_SOURCE),
        ("weights read", work.read, drive, NVME_SOURCE),
    ):
        if not amount:
            continue
        if settings.offload.parameters == "none":
            yield _moved(name, amount, rate, source)
            continue
        hidden = _ahead(settings, stage, computes, amount / rate)
        yield replace(
            _moved(name, amount, rate, source, hidden=hidden),
            why="a layer's shard comes while the layer before it runs, forward and backward",
        )
    if work.written:
        rate = NVME_WRITE / work.neighbours
        yield _moved("weights written", work.written, rate, NVME_SOURCE)


def _ahead(settings: Settings, stage: Stage, computes: Computing, seconds: float) -> float:
    """Return the share of `seconds` that hides behind computing: the first layer's does not."""
    passes, half = settings.workload.gradient_accumulation, seconds / GATHERED
    inner = half * (1 - 1 / max(1, stage.layers))
    windows = (computes.forward * passes, computes.backward * passes)
    return sum(min(inner, window) for window in windows) / seconds


def activations(settings: Settings, stage: Stage) -> Iterator[Term]:
    """Yield the way of the layers' inputs to the host and back, in each micro-batch.

    PyTorch's hooks copy when a tensor is saved and when it is asked for, and the layer waits.
    """
    if settings.offload.activations == "none":
        return
    each = PRECISIONS[settings.recipe.precision].residual
    kept = stage.layers * stream_tokens(settings) * settings.architecture.hidden * each
    for name in ("activations to the host", "activations from the host"):
        yield Term(
            name=name,
            resource=Resource.HOST,
            amount=kept,
            unit="B",
            rate=settings.hardware.gpu.pcie_gb_s * GB * PCIE_SHARE,
            why="the input of each layer waits on the host for its backward pass",
            source="PyTorch documentation, torch.autograd.graph.save_on_cpu",
            rate_source=PCIE_SOURCE,
        )


def _moved(name: str, amount: int, rate: float, source: str, *, hidden: float = 0.0) -> Term:
    why = "gradients leave during the backward pass; states and weights wait for the last of them"
    return Term(
        name=name,
        resource=Resource.HOST,
        amount=amount,
        unit="B",
        rate=rate,
        hidden=hidden,
        why=why,
        source="arXiv 2101.06840 section 4; arXiv 2104.07857 section 5",
        rate_source=source,
    )
