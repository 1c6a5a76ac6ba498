"""Data-parallel ranks share the experts of each layer, and tokens go to their experts."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from engine.levers.choosing import Candidate, doublings, smallest_that_fits
from engine.levers.lever import Lever, WhyNot
from engine.levers.splits import MEGATRON, cannot_move, megatrons, on_megatron
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.architecture.experts is None:
        return WhyNot(sentence="the model has no experts")
    why = cannot_move(scenario)
    if why:
        return WhyNot(sentence=why)
    data = scenario.parallel.data
    return smallest_that_fits(
        _candidates(scenario), otherwise=f"{data:,} data-parallel ranks have no more to share"
    )


def _candidates(scenario: Scenario) -> Iterator[Candidate]:
    now = scenario.parallel.expert
    for factor in doublings(scenario.parallel.data // now):
        yield partial(_with, scenario, now * factor)


def _with(scenario: Scenario, ranks: int) -> Scenario:
    return replace(
        scenario,
        implementation=MEGATRON,
        recipe=megatrons(scenario.recipe),
        parallel=replace(on_megatron(scenario.parallel), expert=ranks),
    )


LEVER = Lever(
    name="expert parallel",
    short=("expert parallelism", "expert", "experts", "ep"),
    says="expert up (on Megatron-LM)",
    change=_change,
    invasiveness=14,
)
