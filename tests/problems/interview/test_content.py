"""What interviews ask, held to the bank's own rules, and nothing is told before it is asked."""

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from problems.check.registry import rules, rules_in
from problems.check.rule import FEW, Series
from problems.interview.drawing import LONGEST, interview
from problems.registry import kinds
from problems.wording import gb, paper
from quiz.check import known

LEVELS = ("junior", "mid", "senior")
SEEDS = range(10)
EVERY = [(level, seed) for level in LEVELS for seed in SEEDS]
# Of all problems of a kind together: an interview has a scenario for each, not a spread of them.
OF_KINDS = {"described", "same-type", "distinct", "spread", "two-mistakes"}


def series(number=10):
    """Return the problems of each question's kind."""
    found = defaultdict(list)
    for level in LEVELS:
        for seed in range(number):
            for question in interview(level, LONGEST, seed).questions:
                if question.problem is not None:
                    kind = re.sub(r"-(at|on)-.*", "", question.problem.kind)
                    found[kind].append(question.problem)
    usual = next(iter(kinds().values()))
    return [
        Series(
            kind=replace(usual, name=name, topic=problems[0].topic, levels=LEVELS),
            problems=tuple(problems),
        )
        for name, problems in found.items()
    ]


OF_PROBLEMS = [
    rule
    for rule in (*rules(), *rules_in(known))
    if not (rule.of_bank or rule.fewest >= FEW or rule.name in OF_KINDS)
]


@pytest.mark.parametrize("rule", OF_PROBLEMS, ids=lambda rule: rule.name)
def test_problems_keep_the_rules_of_the_bank(rule):
    assert [str(finding) for finding in rule.finds(series(4))] == []


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_no_number_is_told_before_it_is_asked_for(level, seed):
    drawn = interview(level, LONGEST, seed)
    heard = f"{drawn.opening}\n{drawn.conditions}"
    for question in drawn.questions:
        heard += f"\n{question.says}"
        asked = None if question.problem is None else question.problem.answer.number
        if asked is not None and asked.unit == "bytes" and asked.default_unit == "GB":
            for said in {gb(asked.value), paper(asked.value)}:
                assert not re.search(rf"(?<![\d.,]){re.escape(said)}", heard), question.key
        heard += "\n".join(point.says for point in question.points)


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_conditions_do_not_tell_the_tensors(level, seed):
    told = interview(level, 20, seed).conditions
    assert not re.search("master|moments|shard of|bucket.*gradients|logits|gathered", told)
    assert re.search("mixed precision|fp32|bf16", told)
    assert not re.search("[{}]|None|  | ,", told)


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_wrong_numbers_lie_outside_the_band_and_are_named(level, seed):
    for question in interview(level, LONGEST, seed).questions:
        problem = question.problem
        if problem is None or problem.answer.number is None:
            continue
        assert len(problem.mistakes) >= 2, question.key
        for mistake in problem.mistakes:
            assert problem.answer.part(mistake.term).tells(mistake.value), mistake.name


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_a_way_from_an_earlier_line_leads_to_the_number(level, seed):
    drawn = interview(level, LONGEST, seed)
    numbers, ways = {}, 0
    for question in drawn.questions:
        asked = None if question.problem is None else question.problem.answer.number
        for way in question.reuses:
            before = numbers[way.question]
            assert before.unit == asked.unit
            reached = way.times * before.value + way.plus
            assert abs(reached - asked.value) <= asked.value / 50, question.key
            ways += 1
        if asked is not None:
            numbers[question.key] = asked
    assert ways >= 3


@pytest.mark.parametrize("minutes", [20, 30, 40])
@pytest.mark.parametrize("level", LEVELS)
def test_ways_lead_from_questions_that_were_asked(level, minutes):
    for seed in SEEDS:
        before = set()
        for question in interview(level, minutes, seed).questions:
            assert {way.question for way in question.reuses} <= before
            before.add(question.key)


def test_verdicts_of_follow_ups_are_yes_and_no():
    said = [
        question.problem.answer.said.split(",")[0]
        for level, seed in EVERY
        for question in interview(level, LONGEST, seed).questions
        if question.problem is not None and question.problem.answer.type == "yes-no"
    ]
    assert 0.25 <= said.count("yes") / len(said) <= 0.75


def test_the_first_lever_is_not_always_the_same():
    picked = {
        question.problem.answer.said
        for level, seed in EVERY
        for question in interview(level, 20, seed).questions
        if question.key == "first-lever"
    }
    assert len(picked) >= 3
