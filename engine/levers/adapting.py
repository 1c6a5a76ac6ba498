"""Adapters in place of the whole model."""

from dataclasses import replace

from engine.levers.lever import WhyNot
from engine.scenario import Adapters, Scenario

RANK = 16


def with_adapters(scenario: Scenario, base: str) -> Scenario | WhyNot:
    """Return `scenario` with adapters on all matrices of the layers, beside a base of "16-bit".

    Or of "4-bit", where adapters that are there already stay as they are.
    """
    now = scenario.adapters
    if now.rank and base in {now.base, "16-bit"}:
        return WhyNot(sentence=f"adapters of rank {now.rank} are trained already")
    adapters = replace(now, base=base) if now.rank else Adapters(rank=RANK, base=base)
    return replace(scenario, adapters=adapters)
