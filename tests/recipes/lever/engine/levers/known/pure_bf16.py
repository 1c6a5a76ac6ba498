"""Weights, gradients and optimizer states in bf16: no fp32 copy of anything."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.recipe.precision == "pure-bf16":
        return WhyNot(sentence="everything is in bf16 already")
    return replace(scenario, recipe=replace(scenario.recipe, precision="pure-bf16"))


LEVER = Lever(
    name="pure bf16",
    short=("bf16 states", "no master copy"),
    says='precision = "pure-bf16"',
    change=_change,
    changes_numerics=True,
    invasiveness=4,
)
