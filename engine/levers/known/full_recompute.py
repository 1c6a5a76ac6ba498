"""Each layer keeps its input alone and runs forward once more in the backward pass."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.recipe.recompute == "full":
        return WhyNot(sentence="recompute is full already")
    return replace(scenario, recipe=replace(scenario.recipe, recompute="full"))


LEVER = Lever(
    name="full recompute",
    short=("full recomputation", "recompute", "recomputation", "checkpointing", "ckpt",
           "activation checkpointing", "gradient checkpointing", "full checkpointing"),
    says='recompute = "full"',
    change=_change,
    invasiveness=7,
)  # fmt: skip
