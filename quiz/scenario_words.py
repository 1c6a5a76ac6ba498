"""A scenario and its sizes in the words of a report."""

from engine.scenario import Scenario
from engine.units import binary, both, decimal


def headline(scenario: Scenario) -> str:
    """Return the model and its exact number of parameters."""
    return f"{scenario.model.title} ({scenario.architecture.parameters:,} parameters)"


def described(scenario: Scenario) -> str:
    """Return how it is trained and on what, in one line."""
    work, recipe, parallel = scenario.workload, scenario.recipe, scenario.parallel
    steps = work.gradient_accumulation
    parts = (
        f"{recipe.precision}, {recipe.optimizer}, {recipe.attention} attention",
        f"recompute {recipe.recompute}",
        "" if scenario.implementation == "fused" else f"{scenario.implementation} stack",
        f"{work.micro_batch} x {work.sequence:,} tokens" + (f" x {steps}" if steps > 1 else ""),
        f"{scenario.hardware.gpus} x {scenario.hardware.gpu.title}",
        f"ZeRO-{parallel.zero}" if parallel.zero else "",
    )
    return " · ".join(part for part in parts if part)


def interval(ends: tuple[int, int]) -> str:
    """Return bytes between two ends: "30.14 GB to 31.91 GB = 28.07 GiB to 29.72 GiB"."""
    low, high = ends
    if low == high:
        return both(low)
    return " = ".join(f"{said(low)} to {said(high)}" for said in (decimal, binary))
