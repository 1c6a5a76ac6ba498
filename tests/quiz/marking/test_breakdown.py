"""A breakdown is marked by its sum and by tensors that a run has together."""

from fractions import Fraction
from functools import cache

import pytest

from problems.answers.breakdown import BreakdownAnswer
from problems.registry import build
from quiz.grading import grade

USUAL = {"weights": 2, "gradients": 2, "master copy": 4, "optimizer states": 8}


@cache
def drawn():
    return tuple(build("own-convention", seed) for seed in range(200))


@pytest.mark.parametrize(
    ("example", "typed", "score", "says"),
    [
        (USUAL, "2 weights + 2 grads + 4 master + 8 moments", 1, "Right: 2 weights"),
        # Autocast reaches 16 bytes another way (stanford-cs336/lectures#3).
        (USUAL, "4 weights + 4 grads + 8 moments", 1, "Right: 4 weights"),
        # NVIDIA/Megatron-LM#654: the two bytes more are fp32 gradients.
        (USUAL | {"gradients": 4}, "2 weights, 4 grads, 4 master, 8 moments = 18", 1, "Right"),
        (
            USUAL | {"gradients": 4},
            "2 weights, 2 grads, 4 master, 8 moments",
            "1/2",
            "2 bytes less",
        ),
        # AI-Hypercomputer/maxtext#606: gradients in 16 bits and in fp32.
        (
            USUAL | {"gradients": 6},
            "2 weights + 2 gradients + 4 fp32 gradients + 4 master + 8 moments = 20",
            1,
            "Right",
        ),
        # jax-ml/scaling-book: weights and two moments leave out gradients and master copy.
        (USUAL, "2 weights + 8 moments", "1/6", "Training has gradients too."),
        (USUAL, "8 weights + 8 moments", "5/6", None),
        (USUAL, "2 weights + 2 grads + 8 moments", "1/3", "step an fp32 copy of the weights"),
        (USUAL, "4 weights + 4 grads + 4 master + 4 moments", "5/6", "there is no master copy"),
        (
            {"weights": 4, "gradients": 4, "optimizer states": 8},
            "2 weights + 2 grads + 4 master + 8 moments",
            "5/6",
            "This run is in fp32",
        ),
        (USUAL, "16 weights", "2/3", None),
        # The sum of SGD with momentum, reached with the moments of Adam.
        (
            USUAL | {"optimizer states": 4},
            "2 weights + 2 gradients + 8 adam",
            "5/6",
            "This run's optimizer keeps 4 bytes a parameter, not 8.",
        ),
        (
            USUAL | {"optimizer states": 2},
            "2 weights + 2 grads + 4 moments",
            "1/3",
            "This run's optimizer keeps 2 bytes a parameter, not 4.",
        ),
    ],
)
def test_the_sum_is_half_and_plausible_tensors_are_half(make_problem, example, typed, score, says):
    answer = BreakdownAnswer(total=sum(example.values()), example=example)
    verdict = grade(make_problem(answer), typed)
    if says is None:
        # Faults of tensors: missing ones and widths that none has.
        assert Fraction(1, 2) <= verdict.score < 1
        return
    assert verdict.score == Fraction(score)
    assert says in verdict.feedback


def test_what_an_optimizer_does_not_keep_is_not_said_to_lack_a_master_copy():
    verdict = grade(build("own-convention", 11), "2 weights + 2 gradients + 8 adam")
    assert "step an fp32 copy" not in verdict.feedback


def test_the_example_earns_all_of_the_credit():
    for problem in drawn()[:60]:
        assert grade(problem, problem.answer.said).score == 1


def test_no_question_is_put_twice_and_many_numbers_are_asked():
    assert len({problem.prompt for problem in drawn()}) == 200
    totals = {problem.answer.total for problem in drawn()}
    assert {8, 10, 12, 14, 16, 18, 20} <= totals


def test_the_solution_ends_with_a_breakdown_that_is_right():
    for problem in drawn()[:60]:
        assert problem.solution[-1].text.endswith(f": {problem.answer.said}")
