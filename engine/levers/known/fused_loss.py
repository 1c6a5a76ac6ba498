"""Cross entropy in one kernel, which puts the gradient in the place of the logits."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.recipe.loss != "eager":
        return WhyNot(sentence=f"the loss is {scenario.recipe.loss} already")
    return replace(scenario, recipe=replace(scenario.recipe, loss="fused"))


LEVER = Lever(
    name="fused cross entropy",
    short=("fused cross-entropy", "fused loss", "fused ce"),
    says='loss = "fused"',
    change=_change,
    invasiveness=4,
)
