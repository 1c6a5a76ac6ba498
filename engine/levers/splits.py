"""GPUs that go from data parallelism to another split, the sequences of a step kept.

Tensor, pipeline and context parallelism are modelled on Megatron-LM alone, so a scenario of
another stack moves there first: its mixed precision accumulates gradients in fp32, its AdamW steps
tensor by tensor, its cross entropy is one kernel, and of ZeRO it has stage 1.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from engine.levers.choosing import Candidate, doublings, smallest_that_fits
from engine.levers.lever import WhyNot
from engine.scenario import Parallel, Recipe, Scenario
from engine.stacks.registry import stack

MEGATRON = "megatron"
# What a mixed precision with fp32 master weights becomes there; others would be another training.
MOVES_FROM = ("mixed", "mixed-fp32-grad", "autocast")
ADAMW = ("adamw", "adamw-fused")


def with_split(scenario: Scenario, name: str, most: int) -> Scenario | WhyNot:
    """Return `scenario` with the smallest split that fits, or the one that saves most.

    Args:
        scenario: what is changed.
        name: the key of `[parallel]`.
        most: the largest split.
    """
    why = cannot_move(scenario)
    if why:
        return WhyNot(sentence=why)
    now, data = getattr(scenario.parallel, name), scenario.parallel.data
    if data == 1:
        return WhyNot(sentence="there are no data-parallel ranks to take from")
    return smallest_that_fits(
        _candidates(scenario, name, most // now),
        otherwise=f"{data:,} data-parallel ranks cannot give ranks to {name} = {2 * now:,}",
    )


def _candidates(scenario: Scenario, name: str, most: int) -> Iterator[Candidate]:
    if name == "tensor" and scenario.parallel.tensor > 1:
        yield partial(_in_parts, scenario)
    for factor in doublings(min(most, scenario.parallel.data)):
        if scenario.parallel.data % factor == 0:
            yield partial(_split, scenario, name, factor)


def _in_parts(scenario: Scenario) -> Scenario:
    """Return `scenario` with sequence parallelism beside its tensor parallelism."""
    return replace(scenario, parallel=replace(scenario.parallel, sequence_parallel=True))


def _split(scenario: Scenario, name: str, factor: int) -> Scenario:
    work, moved = scenario.workload, on_megatron(scenario.parallel)
    changed: dict[str, Any] = {name: factor * getattr(moved, name), "data": moved.data // factor}
    if name == "tensor":
        changed["sequence_parallel"] = True
    passes = factor * work.gradient_accumulation
    return replace(
        scenario,
        implementation=MEGATRON,
        workload=replace(work, gradient_accumulation=passes),
        recipe=megatrons(scenario.recipe),
        parallel=replace(moved, **changed),
    )


def cannot_move(scenario: Scenario) -> str:
    """Return why `scenario` cannot run on Megatron-LM and stay the same training, or ""."""
    recipe = scenario.recipe
    if scenario.implementation == MEGATRON:
        return ""
    if recipe.precision not in MOVES_FROM:
        return f"only Megatron-LM has it here, whose precision is no {recipe.precision}"
    if recipe.optimizer not in ADAMW:
        return f"only Megatron-LM has it here, whose optimizer is AdamW and not {recipe.optimizer}"
    return ""


def megatrons(recipe: Recipe) -> Recipe:
    """Return what `recipe` becomes on Megatron-LM."""
    return replace(recipe, **stack(MEGATRON).brings)


def on_megatron(parallel: Parallel) -> Parallel:
    """Return what `parallel` becomes there: of ZeRO it has stage 1, its distributed optimizer."""
    return replace(parallel, zero=min(parallel.zero, 1), shard=0)
