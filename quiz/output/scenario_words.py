"""A scenario and its sizes in the words of a report."""

from collections.abc import Callable, Iterator

from engine.room import longest_taken
from engine.scenario import Parallel, Scenario
from engine.settings import DEFAULT_STACK
from engine.units import binary, decimal

_WIDE = {"weights": "the weights' dtype"}


def headline(scenario: Scenario) -> str:
    """Return the model and its exact number of parameters."""
    return f"{scenario.model.title} ({scenario.architecture.parameters:,} parameters)"


def described(scenario: Scenario) -> str:
    """Return how it is trained, or served, and on what, in one line."""
    return " · ".join(_of_inference(scenario)) if scenario.served else _of_training(scenario)


def _of_inference(scenario: Scenario) -> Iterator[str]:
    work, serving, parallel = scenario.workload, scenario.serving, scenario.parallel
    own = "fp32" if scenario.recipe.precision == "fp32" else "bf16"
    weights, cache = (own if one == "auto" else one for one in (serving.weights, serving.cache))
    yield f"inference, {weights} weights, {cache} cache"
    if scenario.implementation != DEFAULT_STACK:
        yield f"{scenario.implementation} stack"
    yield f"{work.micro_batch:,} x {work.sequence:,} tokens"
    yield from _beyond(scenario)
    yield f"{scenario.hardware.gpus} x {scenario.hardware.gpu.title}"
    if serving.utilization:
        yield f"utilization {serving.utilization}"
    yield from _splits(parallel)


def _of_training(scenario: Scenario) -> str:
    work, recipe, parallel = scenario.workload, scenario.recipe, scenario.parallel
    steps, offload = work.gradient_accumulation, scenario.offload
    moved = "optimizer" if offload.parameters == "none" else "parameters and optimizer"
    parts = (
        f"{recipe.precision}, {recipe.optimizer}, {recipe.attention} attention",
        f"recompute {recipe.recompute}",
        "" if recipe.loss == "eager" else f"{recipe.loss} loss",
        "" if recipe.ema == "none" else f"EMA in {_WIDE.get(recipe.ema, recipe.ema)}",
        "" if scenario.implementation == DEFAULT_STACK else f"{scenario.implementation} stack",
        f"{work.micro_batch} x {work.sequence:,} tokens" + (f" x {steps}" if steps > 1 else ""),
        *_beyond(scenario),
        f"{scenario.hardware.gpus} x {scenario.hardware.gpu.title}",
        (f"ZeRO-{parallel.zero}" if parallel.zero else "")
        + (f" over {parallel.shard}" if parallel.shard else ""),
        *_splits(parallel),
        "" if offload.optimizer == "none" else f"{moved} on {offload.optimizer}",
    )
    return " · ".join(part for part in parts if part)


def _beyond(scenario: Scenario) -> Iterator[str]:
    """Yield how long a sequence the model takes, where one that is longer is asked for."""
    longest = longest_taken(scenario)
    if 0 < longest < scenario.workload.sequence:
        yield f"the model takes {longest:,} tokens at most"


def _splits(parallel: Parallel) -> Iterator[str]:
    if parallel.tensor > 1:
        yield f"tensor {parallel.tensor}" + (", sequence" * parallel.sequence_parallel)
    if parallel.pipeline > 1:
        yield f"pipeline {parallel.pipeline}"
    if parallel.context > 1:
        yield f"context {parallel.context} ({parallel.exchange})"
    if parallel.expert > 1:
        yield f"expert {parallel.expert}"


def interval(ends: tuple[int, int]) -> str:
    """Return bytes between two ends: "30.14 GB to 31.91 GB = 28.07 GiB to 29.72 GiB"."""
    return " = ".join(between(ends, said) for said in (decimal, binary))


def between(ends: tuple[int, int], said: Callable[[int], str] = decimal) -> str:
    """Return both ends in one unit: "30.14 GB to 31.91 GB"; one number where they read alike."""
    low, high = map(said, ends)
    return low if low == high else f"{low} to {high}"
