"""The lever to pull first is the cheapest of those that are enough; each is reached again."""

import re
from dataclasses import replace
from functools import cache

from engine.costs.step_time import step_time
from engine.estimate import fits, ledger
from engine.levers.ties import TIE
from engine.units import decimal
from problems.registry import build

SEEDS = range(30)
SMALLER = re.compile(r"[Mm]icro-batch of (\d+), (\d+) accumulated")
RECIPES = {
    "fused attention": {"attention": "flash"},
    "fused optimizer": {"optimizer": "adamw-fused"},
    "selective recompute": {"recompute": "selective"},
    "full recompute": {"recompute": "full"},
}


@cache
def drawn():
    return tuple(build("first-lever", seed) for seed in SEEDS)


def pulled(problem, name):
    """The run after a lever, written out by hand."""
    x = problem.scenario
    if name in RECIPES:
        return replace(x, recipe=replace(x.recipe, **RECIPES[name]))
    if name == "smaller micro-batch":
        size, passes = map(int, SMALLER.search(problem.prompt).groups())
        work = replace(x.workload, micro_batch=size, gradient_accumulation=passes)
        return replace(x, workload=work)
    stage = int(name.removeprefix("ZeRO-"))
    recipe = x.recipe
    if stage == 3 and recipe.precision == "mixed-fp32-grad":
        recipe = replace(recipe, precision="mixed")
    return replace(x, recipe=recipe, parallel=replace(x.parallel, zero=stage))


def prices(problem):
    """Step time over that before, less 1, of the choices that fit."""
    before = step_time(problem.scenario).seconds
    for choice in problem.answer.choices:
        after = pulled(problem, choice.item.name)
        if fits(after) == "yes":
            yield choice.item.name, step_time(after).seconds / before - 1


def test_the_run_does_not_fit():
    assert {fits(problem.scenario) for problem in drawn()} == {"no"}


def test_the_right_lever_is_the_cheapest_of_those_that_make_it_fit():
    for problem in drawn():
        found = dict(prices(problem))
        assert min(found, key=found.get) == problem.answer.right.item.name


def test_the_next_that_fits_is_dearer_by_more_than_a_tie():
    several = 0
    for problem in drawn():
        first, *others = sorted(price for _, price in prices(problem))
        assert all(other - first > TIE for other in others), problem.id
        several += bool(others)
    assert several > 5


def test_a_wrong_pick_is_named_by_whether_it_fits():
    for problem in drawn():
        enough = dict(prices(problem))
        for choice in problem.answer.choices:
            if choice is not problem.answer.right:
                fit = choice.item.name in enough
                named = "a dearer lever that fits" if fit else "a lever that is not enough"
                assert choice.mistake == named


def test_every_choice_is_told_with_the_peak_that_it_leaves():
    for problem in drawn():
        for choice in problem.answer.choices:
            peak = ledger(pulled(problem, choice.item.name)).peak
            said = re.search(r"(?:leaves|with) ([\d,.]+) GB", choice.feedback)[1]
            assert abs(float(said.replace(",", "")) * 1e9 / peak - 1) < 0.006, decimal(peak)


def test_the_cheapest_of_all_is_not_always_enough():
    tempting = 0
    for problem in drawn():
        values = {choice.item.name: choice.item.value for choice in problem.answer.choices}
        tempting += min(values, key=values.get) != problem.answer.right.item.name
    assert tempting > 5


def test_zero_2_is_told_with_its_bucket():
    for problem in drawn():
        if any(choice.item.name == "ZeRO-2" for choice in problem.answer.choices):
            assert "500 million elements" in problem.prompt, problem.id


def test_a_lever_that_makes_a_step_clearly_faster_is_explained():
    seen = 0
    for problem in drawn():
        texts = [step.text for step in problem.solution]
        for choice in problem.answer.choices:
            if choice.item.value < -1:
                lines = [text for text in texts if text.startswith(f"{choice.item.name}: ")]
                assert any("step time (" in text for text in lines), problem.id
                seen += 1
    assert seen


def test_what_smaller_passes_send_is_told_by_how_much_and_whether_it_is_waited_for():
    seen = 0
    for problem in drawn():
        lines = [step.text for step in problem.solution if step.text.startswith("smaller micro")]
        if not any("sends anew" in line for line in lines):
            continue
        after = step_time(pulled(problem, "smaller micro-batch"))
        times = after.communication_bytes / step_time(problem.scenario).communication_bytes
        told, exact = lines[-2:]
        assert float(re.search(r"anew, ([\d.]+) ×", told)[1]) == float(f"{times:.2g}")
        assert ("hide behind" in told) != ("waiting for" in exact)
        assert ("launched more often" in told) == ("launching" in exact)
        seen += 1
    assert seen >= 3
