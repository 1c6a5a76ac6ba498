"""Levers in order: what each takes off the peak, reached again by the changed scenario."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

from engine.costs.step_time import step_time
from engine.estimate import fits, ledger
from engine.levers.ties import TIE
from problems.registry import build

SEEDS = range(6)
RECIPES = {
    "fused attention": {"attention": "flash"},
    "fused optimizer": {"optimizer": "adamw-fused"},
    "fused cross entropy": {"loss": "fused"},
    "chunked cross entropy": {"loss": "chunked"},
    "selective recompute": {"recompute": "selective"},
    "full recompute": {"recompute": "full"},
}


@cache
def drawn():
    return tuple(build("oom-checklist", seed) for seed in SEEDS)


def pulled(problem, name):
    """The run after a lever, written out by hand; None for those that need more than a switch."""
    x = problem.scenario
    if name in RECIPES:
        return replace(x, recipe=replace(x.recipe, **RECIPES[name]))
    if name.startswith("ZeRO-") and x.recipe.precision != "mixed-fp32-grad":
        return replace(x, parallel=replace(x.parallel, zero=int(name[-1])))
    return None


def known(problem):
    """Each action that can be pulled by hand, with its run."""
    for action in problem.answer.actions:
        after = pulled(problem, action.item.name)
        if after is not None:
            yield action, after


def test_the_run_does_not_fit():
    assert {fits(problem.scenario) for problem in drawn()} == {"no"}


def test_what_helps_takes_six_percent_off_the_peak_and_what_does_not_leaves_it():
    seen = 0
    for problem in drawn():
        peak = ledger(problem.scenario).peak
        for action, after in known(problem):
            saved = peak - ledger(after).peak
            assert saved == action.item.value
            idle = action.item.key in problem.answer.idle
            assert abs(saved) <= 0.01 * peak if idle else saved >= 0.06 * peak
            seen += 1
    assert seen > 10


def test_the_order_is_that_of_the_time_of_a_step():
    for problem in drawn():
        before = step_time(problem.scenario).seconds
        times = {
            action.item.key: step_time(after).seconds / before - 1
            for action, after in known(problem)
        }
        groups = [[times[key] for key in group if key in times] for group in problem.answer.order]
        groups = [group for group in groups if group]
        for one, other in pairwise(groups):
            assert max(one) + TIE < min(other)


def test_emptying_the_cache_never_helps():
    for problem in drawn():
        idle = {problem.answer.action(key).item.name for key in problem.answer.idle}
        for action in problem.answer.actions:
            if "cache" in action.item.name or "workers" in action.item.name:
                assert action.item.name in idle


def test_the_solution_ends_with_the_order():
    for problem in drawn():
        assert problem.solution[-1].text.endswith(f": {problem.answer.said}")


def test_prompts_say_what_is_left_out_and_what_ties():
    for problem in drawn():
        assert "Leave the others out" in problem.prompt
        assert re.search(r"within 5 points of a percent tie", problem.prompt)


def test_what_a_hint_says_of_the_peak_is_a_part_of_it():
    for problem in drawn():
        book, text = ledger(problem.scenario), problem.hints[1]
        peak, *parts = (float(size.replace(",", "")) for size in re.findall(r"([\d,.]+) GB", text))
        assert abs(peak - book.peak / 1e9) < 0.01
        assert len(parts) == 2
        assert sum(parts) <= peak + 0.01, problem.id
        assert "slack" not in text


def test_the_two_parts_of_a_hint_are_the_largest_kinds_of_what_is_alive():
    for problem in drawn():
        book, kinds = ledger(problem.scenario), {}
        for line, size in book.alive:
            kinds[line.category] = kinds.get(line.category, 0) + size
        most = sorted(kinds.values())[-2:]
        parts = re.findall(r"([\d,.]+) GB", problem.hints[1])[1:]
        assert [float(part.replace(",", "")) for part in parts] == [
            round(size / 1e9, 2) for size in reversed(most)
        ], problem.id
