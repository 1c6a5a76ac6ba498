"""AdamW in one kernel, tensor by tensor, without temporaries of all parameters."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    optimizer = scenario.recipe.optimizer
    if optimizer != "adamw":
        return WhyNot(sentence=f"{optimizer} has no temporaries that a fused AdamW would save")
    return replace(scenario, recipe=replace(scenario.recipe, optimizer="adamw-fused"))


LEVER = Lever(
    name="fused optimizer",
    short=("fused adamw", "fused adam", "fused step", "adamw-fused"),
    says='optimizer = "adamw-fused"',
    change=_change,
    invasiveness=3,
)
