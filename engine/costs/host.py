"""What keeping the optimizer states on the host costs: transfers, and a step by its processors.

Gradients go down, stepped weights come back: Ψ elements each way, of a rank's ZeRO share. The
states stay where they are on `cpu`; on `nvme` they are read and written too. Gradients go while
the backward pass runs; the step and the way back wait for the last of them.
Source: arXiv 2101.06840 (ZeRO-Offload) section 4, arXiv 2104.07857 (ZeRO-Infinity) section 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.costs.assumptions import (
    CPU_ADAM,
    CPU_ADAM_SOURCE,
    NVME_READ,
    NVME_SOURCE,
    NVME_WRITE,
    PCIE_SHARE,
    PCIE_SOURCE,
)
from engine.costs.stages import Held, Stage, stream_tokens
from engine.costs.terms import Resource, Term
from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.settings import Settings
from engine.units import GB

ADAM_STATES = 2  # of optimizers that have no row in engine/recipe.py


@dataclass(frozen=True, kw_only=True)
class Offloaded:
    """What one rank's step moves and steps on its host.

    Attributes:
        down: bytes of gradients to the host.
        up: bytes of weights from the host.
        states: bytes of states read from the drives, and written to them again; 0 on `cpu`.
        parameters: stepped by the processors for this rank.
        neighbours: ranks that share the host.
    """

    down: int
    up: int
    states: int
    parameters: int
    neighbours: int


def offloaded(settings: Settings, weights: Held) -> Offloaded | None:
    """Return what offloading the optimizer states costs a rank; None where they stay."""
    where = settings.offload.optimizer
    if where == "none":
        return None
    precision = PRECISIONS[settings.recipe.precision]
    row = OPTIMIZERS.get(settings.recipe.optimizer)
    kept = precision.master + precision.stepped * (row.states if row else ADAM_STATES)
    mine = weights.owned(settings)
    hardware = settings.hardware
    return Offloaded(
        down=mine * precision.gradients,
        up=mine * precision.weights,
        states=mine * kept if where == "nvme" else 0,
        parameters=mine,
        neighbours=min(hardware.gpus, hardware.gpu.gpus_per_node),
    )


def terms(settings: Settings, weights: Held, backward: float) -> Iterator[Term]:
    """Yield the terms of an offloaded step; `backward`: seconds that gradients hide behind."""
    work = offloaded(settings, weights)
    if work is None:
        return
    wire = settings.hardware.gpu.pcie_gb_s * GB * PCIE_SHARE
    down = work.down / wire
    yield _moved(
        "gradients to the host", work.down, wire, PCIE_SOURCE, hidden=min(1.0, backward / down)
    )
    if work.states:
        for name, rate in (("states read", NVME_READ), ("states written", NVME_WRITE)):
            yield _moved(name, work.states, rate / work.neighbours, NVME_SOURCE)
    yield Term(
        name="step on the host",
        resource=Resource.HOST,
        amount=work.parameters,
        unit="parameter",
        rate=CPU_ADAM / work.neighbours,
        why="the host's processors step what its GPUs own, which its memory paces",
        source="arXiv 2101.06840 section 5",
        rate_source=CPU_ADAM_SOURCE,
    )
    yield _moved("weights from the host", work.up, wire, PCIE_SOURCE)


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
