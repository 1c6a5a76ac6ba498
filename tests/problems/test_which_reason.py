"""A reason to pick: verdicts and letters give nothing away, and each pick is answered."""

from collections import Counter
from functools import cache

import pytest

from problems.claims import claims, with_reasons
from problems.registry import build
from quiz.grading import grade


@cache
def drawn():
    return [build("which-reason", seed) for seed in range(240)]


def test_all_claims_that_are_judged_in_words_can_be_picked_too():
    assert set(claims()) < set(with_reasons())


def test_each_claim_has_enough_false_reasons_for_a_junior():
    for claim in with_reasons().values():
        assert len(claim.errors) >= 2, claim.id


def test_half_of_the_claims_are_true():
    true = sum(problem.answer.said.startswith("true") for problem in drawn())
    assert 0.4 <= true / len(drawn()) <= 0.6


@pytest.mark.parametrize(("level", "options"), [("junior", 3), ("mid", 4), ("senior", 5)])
def test_the_right_reason_stands_anywhere_among_the_options_of_a_level(level, options):
    posed = [problem.answer for problem in drawn() if problem.level == level]
    places = Counter(answer.right.item.key for answer in posed)
    assert {len(answer.choices) for answer in posed} == {options}
    assert len(places) == options
    assert max(places.values()) <= 2 * len(posed) / options


def test_both_verdicts_are_among_the_options():
    for problem in drawn():
        verdicts = {choice.item.name.partition(".")[0] for choice in problem.answer.choices}
        assert verdicts == {"true", "false"}


def test_the_right_reason_is_the_longest_about_as_often_as_any_other():
    longest = sum(
        max(problem.answer.items, key=lambda item: len(item.name)) is problem.answer.right.item
        for problem in drawn()
    )
    assert 0.15 <= longest / len(drawn()) <= 0.35


def test_a_false_reason_is_answered_with_why_it_is_false():
    problem = drawn()[0]
    for choice in problem.answer.choices:
        verdict = grade(problem, choice.item.key)
        assert verdict.score == (0 if choice.mistake else 1)
        assert choice.feedback in verdict.feedback
