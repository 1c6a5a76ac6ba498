"""More GPUs for the same step: they take sequences of it, and a share of what ZeRO shards.

Where no sequence is left to take they take a part of every matrix.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from engine.levers.choosing import Candidate, doublings, smallest_that_fits
from engine.levers.lever import Lever, WhyNot
from engine.levers.splits import MEGATRON, cannot_move, megatrons, on_megatron
from engine.scenario import Scenario
from engine.stacks.registry import stack


def _change(scenario: Scenario) -> Scenario | WhyNot:
    sequences = _sequences(scenario)
    noun = "sequence" if sequences == 1 else "sequences"
    why = f"{sequences:,} {noun} of a step on each rank cannot be halved"
    return smallest_that_fits(_candidates(scenario), otherwise=why)


def _sequences(scenario: Scenario) -> int:
    return scenario.workload.micro_batch * scenario.workload.gradient_accumulation


def _candidates(scenario: Scenario) -> Iterator[Candidate]:
    sequences = _sequences(scenario)
    for factor in doublings(sequences):
        if sequences % factor == 0:
            yield partial(_with, scenario, factor, sequences // factor)
    if sequences == 1 and not cannot_move(scenario):
        node = scenario.hardware.gpu.gpus_per_node
        for factor in doublings(node // scenario.parallel.tensor):
            yield partial(_with_tensor_ranks, scenario, factor)


def _with(scenario: Scenario, factor: int, sequences: int) -> Scenario:
    """Return `scenario` on `factor` times the GPUs, each rank with so many sequences a step."""
    parallel, work = scenario.parallel, scenario.workload
    most = min(work.micro_batch, sequences)
    size = next(one for one in range(most, 0, -1) if sequences % one == 0)
    # Without ZeRO further ranks would hold what the others do.
    stage = stack(scenario.implementation).highest_zero
    return replace(
        scenario,
        workload=replace(work, micro_batch=size, gradient_accumulation=sequences // size),
        parallel=replace(parallel, data=factor * parallel.data, zero=parallel.zero or stage),
        hardware=replace(scenario.hardware, gpus=factor * scenario.hardware.gpus),
    )


def _with_tensor_ranks(scenario: Scenario, factor: int) -> Scenario:
    parallel = on_megatron(scenario.parallel)
    tensor = factor * parallel.tensor
    return replace(
        scenario,
        implementation=MEGATRON,
        recipe=megatrons(scenario.recipe),
        parallel=replace(parallel, tensor=tensor, sequence_parallel=True),
        hardware=replace(scenario.hardware, gpus=factor * scenario.hardware.gpus),
    )


LEVER = Lever(
    name="more GPUs",
    short=("gpus", "more gpu", "scale out", "more data parallel"),
    says="gpus and data up, with ZeRO, fewer sequences on each; or gpus and tensor",
    change=_change,
    invasiveness=18,
)
