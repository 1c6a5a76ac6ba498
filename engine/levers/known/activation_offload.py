"""The layers' inputs wait on the host: what recomputation keeps leaves the GPU too."""

from dataclasses import replace

from engine.levers.lever import Lever, WhyNot
from engine.scenario import Scenario


def _change(scenario: Scenario) -> Scenario | WhyNot:
    if scenario.offload.activations != "none":
        return WhyNot(sentence="they wait on the host already")
    recipe = replace(scenario.recipe, recompute="full")
    return replace(scenario, recipe=recipe, offload=replace(scenario.offload, activations="cpu"))


LEVER = Lever(
    name="activation offload",
    short=("offload activations", "save_on_cpu", "activations to cpu"),
    says='recompute = "full", offload.activations = "cpu"',
    change=_change,
    invasiveness=15,
)
