"""What asks for more than the card has, each event priced again from what the question says."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

from engine.estimate import ledger
from problems.registry import build

SEEDS = range(24)
GB = 10**9


@cache
def drawn():
    return tuple(build("late-suspects", seed) for seed in SEEDS)


def number(text):
    return float(text.replace(",", ""))


def said(problem, pattern):
    return number(re.search(pattern, problem.prompt)[1])


def by_hand(problem, name, text):
    """GB alive with an event, by the figures of the prompt and of its line of the exhibit."""
    live = said(problem, r"steps ([\d.,]+) GB are alive")
    peak = said(problem, r"peak at ([\d.,]+) GB")
    x = problem.scenario
    figures = [number(word) for word in re.findall(r"\d[\d,.]*", text)]
    if name == "the longest batch":
        further = figures[0] - x.workload.sequence
        return peak + further / 1000 * said(problem, r"sequence add ([\d.,]+) GB")
    if name == "the evaluation":
        return live + 4 * figures[1] * figures[2] * x.architecture.vocab / GB
    if name == "the hook":
        return peak + figures[0] * figures[1] * x.tokens * x.architecture.hidden / GB
    if name == "the save":
        return live + (figures[0] * x.architecture.parameters / GB if figures else 0)
    return peak


def rows(problem):
    for line in re.sub(r"\n +", " ", problem.exhibit).splitlines():
        name, text = re.split(r"\s{2,}", line)
        yield next(a for a in problem.answer.actions if a.item.name == name), text


def test_each_event_asks_for_what_the_question_leads_to():
    for problem in drawn():
        for action, text in rows(problem):
            expected = by_hand(problem, action.item.name, text)
            assert abs(float(action.item.value) / GB / expected - 1) < 0.02, problem.id


def test_those_in_order_are_those_above_what_pytorch_has_and_the_largest_is_first():
    for problem in drawn():
        capacity = said(problem, r"PyTorch has ([\d.,]+) GB")
        asked = {
            key: float(item.value) / GB for item in problem.answer.items for key in [item.key]
        }
        right = sorted((k for k in asked if asked[k] > capacity), key=lambda k: -asked[k])
        assert problem.answer.order == tuple((key,) for key in right)


def test_two_events_are_far_enough_apart_for_rounded_sums():
    for problem in drawn():
        sizes = [problem.answer.action(key).item.value for (key,) in problem.answer.order]
        assert all(one > two * 108 / 100 for one, two in pairwise(sizes))


def test_the_longest_batch_is_priced_by_the_ledger():
    for problem in drawn():
        for action, text in rows(problem):
            if action.item.name == "the longest batch":
                longest = int(number(text.split()[0]))
                work = replace(problem.scenario.workload, sequence=longest)
                assert action.item.value == ledger(replace(problem.scenario, workload=work)).peak


def test_the_usual_step_fits():
    for problem in drawn():
        assert ledger(problem.scenario).peak < problem.scenario.hardware.gpu.memory


def test_a_cache_in_pieces_and_what_is_on_the_host_are_left_out():
    for problem in drawn():
        idle = {problem.answer.action(key).item.name for key in problem.answer.idle}
        for item in problem.answer.items:
            if item.name in {"the cache in pieces", "the loader's workers", "the logged losses"}:
                assert item.name in idle
