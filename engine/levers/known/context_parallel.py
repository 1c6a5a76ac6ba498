"""Ranks share the tokens of each sequence, in attention too."""

from engine.levers.lever import Lever, WhyNot
from engine.levers.splits import with_split
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    return with_split(scenario, "context", scenario.workload.sequence)


LEVER = Lever(
    name="context parallel",
    short=("context parallelism", "context", "cp", "ring attention"),
    says="context up, data down (on Megatron-LM)",
    change=_change,
    invasiveness=13,
)
