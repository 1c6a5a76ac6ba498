"""Head and cross entropy a chunk of rows at a time: the logits are never all there."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.recipe.loss == "chunked":
        return WhyNot(sentence="the loss is chunked already")
    return replace(scenario, recipe=replace(scenario.recipe, loss="chunked"))


LEVER = Lever(
    name="chunked cross entropy",
    short=("chunked cross-entropy", "chunked loss", "chunked ce", "chunked", "cce", "liger",
           "fused linear cross entropy"),
    says='loss = "chunked"',
    change=_change,
    invasiveness=5,
)  # fmt: skip
