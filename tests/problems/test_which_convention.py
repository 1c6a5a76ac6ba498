"""Accountings that are in use, and the numbers that were published by them."""

from itertools import combinations

import pytest

from engine.units import GB
from problems.bank.states.which_convention import ACCOUNTINGS, FP32, USUAL
from problems.model_states import each_of
from problems.registry import build
from quiz.grading import grade


@pytest.mark.parametrize(
    ("parameters", "gb", "name"),
    [
        # arinsoracle.blogspot.com 2024/08: 24 GB for 1B, of which 16 are certain.
        (1, 24, "fp32 weights, gradients and two moments, and half as much again for activations"),
        (1, 16, "fp32 weights, gradients and two moments"),
        # jax-ml/scaling-book: 13B, weights and moments.
        (13, 130, "16-bit weights and two fp32 moments"),
        # distillprep.com: 560 GB for 70B, and the usual count of it.
        (70, 560, "everything in bf16: weights, gradients, two moments"),
        (70, 1120, "16-bit weights and gradients, fp32 master copy, two fp32 moments"),
        # NVIDIA/Megatron-LM#654 and AI-Hypercomputer/maxtext#606: 18 and 20 bytes.
        (1, 18, "16-bit weights, fp32 gradients, master copy and two moments"),
        (1, 20, "16-bit weights and gradients beside fp32 gradients, master copy and two moments"),
    ],
)
def test_a_published_number_has_its_accounting(parameters, gb, name):
    one = next(one for one in ACCOUNTINGS if one.name == name)
    assert each_of(one.parts) * parameters * GB == gb * GB


def test_two_lectures_with_16_bytes_are_told_apart_by_what_zero_1_shards():
    # stanford-cs336/lectures#3: 4 + 4 + (4 + 4) and 2 + 2 + (4 + 4 + 4).
    assert each_of(FP32.parts) == each_of(USUAL.parts) == 16
    assert each_of(FP32.parts, 1, 8) == 9
    assert each_of(USUAL.parts, 1, 8) == 5.5


def test_what_is_shown_is_told_apart_and_the_two_of_16_bytes_meet():
    both = 0
    for seed in range(200):
        problem = build("which-convention", seed)
        values = [item.value for item in problem.answer.items]
        assert all(max(pair) > 1.05 * min(pair) for pair in combinations(values, 2))
        both += {FP32.name, USUAL.name} <= {item.name for item in problem.answer.items}
    assert both > 10


def test_no_question_is_put_twice():
    problems = [build("which-convention", seed) for seed in range(200)]
    assert len({(x.prompt, x.answer.items) for x in problems}) == 200
    assert len({x.prompt for x in problems}) == 200


def test_a_wrong_pick_is_told_what_it_has_less_or_more_than_usual():
    problem = build("which-convention", 0)
    wrong = next(x for x in problem.answer.choices if x.mistake)
    verdict = grade(problem, wrong.item.key)
    assert (verdict.score, verdict.mistake) == (0, "another accounting")
    assert "than the usual 16 bytes" in verdict.feedback
