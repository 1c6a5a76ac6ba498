"""Ranks of a node share every matrix, and the tokens between them (sequence parallel)."""

from engine.levers.lever import Lever, WhyNot
from engine.levers.splits import with_split
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    """Stay inside a node: two all-reduces a layer and pass want its links."""
    return with_split(scenario, "tensor", scenario.hardware.gpu.gpus_per_node)


LEVER = Lever(
    name="tensor parallel",
    short=("tensor parallelism", "tensor", "tp", "sequence parallel", "sp", "tp+sp"),
    says="tensor up, sequence_parallel = true, data down (on Megatron-LM)",
    change=_change,
    invasiveness=11,
)
