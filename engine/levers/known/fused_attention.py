"""Attention that never has the s x s scores in memory."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.recipe.attention == "flash":
        return WhyNot(sentence="attention is fused already")
    return replace(scenario, recipe=replace(scenario.recipe, attention="flash"))


LEVER = Lever(
    name="fused attention",
    short=("flash attention", "flashattention", "flash", "fa", "fa2", "sdpa"),
    says='attention = "flash"',
    change=_change,
    invasiveness=2,
)
