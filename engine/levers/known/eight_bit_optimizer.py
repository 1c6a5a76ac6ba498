"""Moments of one byte a parameter: training goes on with other numbers."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.optimizers import optimizers
from engine.scenario import Scenario

NAME = "adamw-8bit"


def _change(scenario: Scenario) -> Scenario | WhyNot:
    optimizer = scenario.recipe.optimizer
    if optimizers()[optimizer].form == optimizers()[NAME].form:
        return WhyNot(sentence="the moments have 8 bits already")
    if optimizers()[optimizer].states < optimizers()[NAME].states:
        return WhyNot(sentence=f"{optimizer} has no two moments to store in 8 bits")
    return replace(scenario, recipe=replace(scenario.recipe, optimizer=NAME))


LEVER = Lever(
    name="8-bit optimizer",
    short=("8-bit adam", "8bit", "8-bit", "8bit adam", "adam8bit", "adamw-8bit"),
    says='optimizer = "adamw-8bit"',
    change=_change,
    changes_numerics=True,
    invasiveness=17,
)
