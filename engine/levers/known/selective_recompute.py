"""Attention runs again in the backward pass: little compute, and the s x s scores are not kept."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    recompute = scenario.recipe.recompute
    if recompute != "none":
        return WhyNot(sentence=f"recompute is {recompute} already")
    return replace(scenario, recipe=replace(scenario.recipe, recompute="selective"))


LEVER = Lever(
    name="selective recompute",
    short=("selective recomputation", "selective checkpointing", "selective", "selective ckpt"),
    says='recompute = "selective"',
    change=_change,
    invasiveness=6,
)
