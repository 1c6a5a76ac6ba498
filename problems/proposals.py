"""Levers whose peak one adds up on paper, as an answer to a run that does not fit."""

from collections.abc import Iterable

from engine.errors import InputError
from engine.scenario import Scenario
from problems import lever_runs
from problems.draw import Draw

# Of all levers, those after which the step is one of the kind that `problems.on_paper` adds up.
ON_PAPER = (
    "smaller micro-batch",
    "fused attention",
    "fused optimizer",
    "selective recompute",
    "full recompute",
    "ZeRO-1",
    "ZeRO-2",
    "ZeRO-3",
)


def proposed(draw: Draw, scenario: Scenario, name: str) -> Scenario | None:
    """Return what the lever makes of a run, None where it does not apply or cannot be modelled.

    Selective recomputation is asked about where there are scores to recompute.
    """
    if name == "selective recompute" and scenario.recipe.attention == "flash":
        return None
    try:
        return lever_runs.pulled(draw, scenario, name)
    except InputError:
        return None


def detail(scenario: Scenario) -> str:
    """Return the micro-batch and how often it is accumulated."""
    work = scenario.workload
    return f"a micro-batch of {work.micro_batch}, {work.gradient_accumulation} accumulated"


def sharding_of(scenario: Scenario, changed: Iterable[Scenario]) -> str:
    """Return whose ZeRO proposals bring, as one sentence; "" where they bring none."""
    texts = [text for after in changed for text in lever_runs.sharding_said(scenario, after)]
    return f"{'; '.join(texts)}." if texts else ""


def said(name: str, after: Scenario) -> str:
    """Return a proposal as a candidate says it."""
    if name == "smaller micro-batch":
        return detail(after)
    return {"ZeRO-3": "ZeRO-3 (FSDP2)", "fused optimizer": "a fused optimizer"}.get(name, name)
