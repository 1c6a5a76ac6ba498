"""Single changes of a scenario that save memory, cheapest first where nothing else decides."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from engine.errors import InputError
from engine.estimate import fits
from engine.scenario import Recipe, Scenario

Change = Callable[[Scenario], Scenario | None]


@dataclass(frozen=True, kw_only=True)
class Lever:
    """A change of a scenario.

    Attributes:
        says: what to do, in the words of the scenario file.
        change: returns the changed scenario; None where there is nothing to change.
    """

    says: str
    change: Change


def fitting(scenario: Scenario) -> Iterator[Lever]:
    """Yield the levers of which each alone makes `scenario` fit on its card."""
    for lever in LEVERS:
        try:
            changed = lever.change(scenario)
        except InputError:  # the change gives what the ledger does not model
            continue
        if changed is not None and fits(changed) == "yes":
            yield lever


def _smaller_micro_batch(scenario: Scenario) -> Scenario | None:
    work = scenario.workload
    if work.micro_batch == 1:
        return None
    passes = work.gradient_accumulation * work.micro_batch
    return replace(scenario, workload=replace(work, micro_batch=1, gradient_accumulation=passes))


def _recipe(changed: Callable[[Recipe], Recipe]) -> Change:
    def change(scenario: Scenario) -> Scenario | None:
        recipe = changed(scenario.recipe)
        return None if recipe == scenario.recipe else replace(scenario, recipe=recipe)

    return change


def _fused_step(scenario: Scenario) -> Scenario | None:
    if scenario.recipe.optimizer != "adamw":
        return None
    return _recipe(lambda r: replace(r, optimizer="adamw-fused"))(scenario)


def _zero(stage: int) -> Change:
    def change(scenario: Scenario) -> Scenario | None:
        parallel = scenario.parallel
        if parallel.zero >= stage or parallel.data == 1:
            return None
        return replace(scenario, parallel=replace(parallel, zero=stage))

    return change


LEVERS = (
    Lever(says="a smaller micro_batch, with gradient accumulation", change=_smaller_micro_batch),
    Lever(says='optimizer = "adamw-fused"', change=_fused_step),
    Lever(says='attention = "flash"', change=_recipe(lambda r: replace(r, attention="flash"))),
    Lever(
        says='recompute = "selective"', change=_recipe(lambda r: replace(r, recompute="selective"))
    ),
    Lever(says='recompute = "full"', change=_recipe(lambda r: replace(r, recompute="full"))),
    Lever(says="zero = 1", change=_zero(1)),
    Lever(says="zero = 2", change=_zero(2)),
    Lever(says="zero = 3", change=_zero(3)),
)
