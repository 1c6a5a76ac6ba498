"""Optimizer states that leave the GPU."""

from dataclasses import replace

from engine.levers.lever import WhyNot
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
