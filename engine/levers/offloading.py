"""Optimizer states that leave the GPU, by themselves or with the weights."""

from dataclasses import replace

from engine.levers.lever import WhyNot
from engine.levers.sharding import with_stage
from engine.scenario import OFFLOADS, Scenario


def with_offload(scenario: Scenario, where: str) -> Scenario | WhyNot:
    """Return `scenario` with its optimizer states on "cpu" or "nvme".

    Several ranks share them under ZeRO-2 then: where none does, each would keep and step all.
    """
    now = scenario.offload.optimizer
    if OFFLOADS.index(now) >= OFFLOADS.index(where):
        return WhyNot(sentence=f"the optimizer states are on {now} already")
    parallel = scenario.parallel
    stage = max(parallel.zero, 2) if parallel.sharing > 1 else parallel.zero
    return replace(
        scenario,
        parallel=replace(parallel, zero=stage),
        offload=replace(scenario.offload, optimizer=where),
    )


def with_parameters(scenario: Scenario, where: str) -> Scenario | WhyNot:
    """Return `scenario` with its weights, and all that goes with them, on "cpu" or "nvme".

    Ranks gather them from there layer by layer, which is ZeRO-3.
    """
    now = scenario.offload.parameters
    if OFFLOADS.index(now) >= OFFLOADS.index(where):
        return WhyNot(sentence=f"the weights are on {now} already")
    if OFFLOADS.index(scenario.offload.optimizer) > OFFLOADS.index(where):
        return WhyNot(sentence=f"the optimizer states are on {scenario.offload.optimizer} already")
    offload = replace(scenario.offload, optimizer=where, parameters=where)
    changed = scenario if scenario.parallel.zero == 3 else with_stage(scenario, 3)
    return changed if isinstance(changed, WhyNot) else replace(changed, offload=offload)
