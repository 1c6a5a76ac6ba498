"""Fewer sequences at a time, as often as it takes to have the same batch."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from engine.levers.choosing import Candidate, smallest_that_fits
from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    why = "a micro-batch of one sequence cannot be smaller"
    return smallest_that_fits(_candidates(scenario), otherwise=why)


def _candidates(scenario: Scenario) -> Iterator[Candidate]:
    """Yield the smaller micro-batches that share the step's sequences evenly, largest first."""
    work = scenario.workload
    sequences = work.micro_batch * work.gradient_accumulation
    for size in range(work.micro_batch - 1, 0, -1):
        if sequences % size == 0:
            yield partial(_with, scenario, size, sequences // size)


def _with(scenario: Scenario, size: int, passes: int) -> Scenario:
    work = replace(scenario.workload, micro_batch=size, gradient_accumulation=passes)
    return replace(scenario, workload=work)


LEVER = Lever(
    name="smaller micro-batch",
    short=("micro-batch", "micro batch", "mb", "mbs", "accumulation", "gradient accumulation",
           "grad accum", "ga"),
    says="micro_batch down, gradient_accumulation up by as much",
    change=_change,
    invasiveness=1,
)  # fmt: skip
