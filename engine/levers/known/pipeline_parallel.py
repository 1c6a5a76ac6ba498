"""Ranks share the layers: each has a stage of them."""

from engine.levers.lever import Lever, WhyNot
from engine.levers.splits import with_split
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    return with_split(scenario, "pipeline", scenario.architecture.layers)


LEVER = Lever(
    name="pipeline parallel",
    short=("pipeline parallelism", "pipeline", "pp"),
    says="pipeline up, data down (on Megatron-LM)",
    change=_change,
    invasiveness=12,
)
