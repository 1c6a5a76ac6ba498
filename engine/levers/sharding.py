"""ZeRO: what ranks with the same weights share among themselves."""

from dataclasses import replace

from engine.levers.lever import WhyNot
from engine.scenario import Scenario
from engine.stacks.registry import stack


def with_stage(scenario: Scenario, stage: int) -> Scenario | WhyNot:
    """Return `scenario` under a ZeRO stage.

    FSDP2 reduces in fp32 whatever the precision is called, so `mixed-fp32-grad` is `mixed` there.
    """
    parallel, recipe = scenario.parallel, scenario.recipe
    if parallel.sharing == 1:
        return WhyNot(sentence="one rank has nobody to share with")
    if parallel.zero >= stage:
        return WhyNot(sentence=f"ZeRO-{parallel.zero} is on already")
    is_fsdp = stage == 3 and stack(scenario.implementation).highest_zero == 3
    if is_fsdp and recipe.precision == "mixed-fp32-grad":
        recipe = replace(recipe, precision="mixed")
    return replace(scenario, recipe=recipe, parallel=replace(parallel, zero=stage))
