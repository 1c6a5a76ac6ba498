"""Work of one rank's step as the cost model counts it: FLOPs, and bytes on the wire."""

from engine.costs import flops, traffic
from engine.costs.flops import MicroBatch
from engine.costs.held import held
from engine.costs.host import Offloaded, offloaded
from engine.scenario import Scenario
from engine.stages import stages


def products(scenario: Scenario) -> MicroBatch:
    """Return the FLOPs of one micro-batch on a rank of the only stage."""
    return flops.micro_batch(scenario, stages(scenario)[0])


def reduced(scenario: Scenario) -> int:
    """Return the bytes that a rank sends in a step to reduce gradients."""
    stage = stages(scenario)[0]
    return traffic.reduced(scenario, stage, held(scenario, stage)).shared.size


def gathered(scenario: Scenario) -> int:
    """Return the bytes that a rank sends in a step so that others have its weights."""
    stage = stages(scenario)[0]
    return traffic.gathered(scenario, stage, held(scenario, stage)).shared.size


def tensor_parallel_bytes(scenario: Scenario) -> int:
    """Return the bytes that a tensor-parallel rank sends in one micro-batch."""
    return traffic.tensor(scenario, stages(scenario)[0]).total.size


def to_the_host(scenario: Scenario) -> Offloaded:
    """Return what an offloaded optimizer moves and steps.

    Raises:
        ValueError: the optimizer is not offloaded.
    """
    work = offloaded(scenario, held(scenario, stages(scenario)[0]))
    if work is None:
        message = "the optimizer's states stay on the GPU"
        raise ValueError(message)
    return work
