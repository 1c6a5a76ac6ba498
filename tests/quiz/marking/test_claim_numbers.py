"""Numbers in a reason, held to a run: Llama-2-7B, mixed, AdamW, ZeRO-1 over 8."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.claim import RunFacts
from problems.registry import build
from quiz.grading import grade
from quiz.marking.claim_numbers import wrong_number

GB = 10**9
RUN = RunFacts(
    each=Fraction(16),
    shared=Fraction(11, 2),
    parts=(2, 2, 4, 8),
    sizes=(13 * GB, 27 * GB, 37 * GB, 80 * GB),
)

AGREES = [
    "16 bytes either way",
    "still 16 bytes per param",
    "16 B/param as before",
    "5.5 bytes a parameter on each gpu",
    "2+2+4+8 bytes",
    "2 + 2 + 4 + 8 = 16",
    "weights take 2 bytes, gradients 2 bytes, the master copy 4 bytes and the moments 8 bytes",
    "the two moments have 4 bytes each",
    "master and moments are 12 bytes",
    "a 7B model, 70b too",
    "about 38 GB on each",
    "13.5 GB of weights",
    "12.1 GiB of weights",
    "over 900 GB/s of NVLink",
    "it is 3x",
    "",
    "no numbers at all",
]
CONTRADICTS = [
    ("8 bytes now", "8 bytes"),
    ("false, it is 8 bytes per parameter now", "8 bytes per parameter"),
    ("from 16 bytes to 8 bytes", "8 bytes"),
    ("20 B/param", "20 B/param"),
    ("the moments take 7 bytes", "7 bytes"),
    ("that is 200 GB", "200 GB"),
    ("5 GiB of it, 16 bytes a param", "5 GiB"),
]


@pytest.mark.parametrize("typed", AGREES)
def test_what_the_run_has_is_let_through(typed):
    assert wrong_number(typed, RUN) is None


def test_bytes_that_the_run_does_not_have_are_answered_with_the_whole_and_the_share():
    found = wrong_number("8 bytes now", RUN)
    assert found.says == (
        "8 bytes is not what a parameter takes here: 2 + 2 + 4 + 8 = 16, 5.5 on one GPU."
    )


@pytest.mark.parametrize(("typed", "words"), CONTRADICTS, ids=[typed for typed, _ in CONTRADICTS])
def test_what_the_run_does_not_have_is_pointed_at(typed, words):
    found = wrong_number(typed, RUN)
    assert typed[found.start : found.end] == words
    assert words in found.says


def in_a_run(name):
    """A problem that puts the claim `name` about a run with 16 bytes a parameter."""
    for seed in range(500):
        problem = build("claim-in-run", seed)
        if problem.answer.claim == name and problem.answer.run.each == 16:
            return problem
    raise AssertionError(name)


def test_a_right_reason_with_a_number_of_another_run_is_half():
    problem = in_a_run("mixed-precision-halves")
    right = "false, the fp32 master copy and moments stay, {} bytes per parameter either way"
    assert grade(problem, right.format(16)).score == 1
    verdict = grade(problem, right.format(20))
    assert (verdict.score, verdict.mistake) == (Fraction(1, 2), "a number that is not the run's")
    assert "20 bytes per parameter is not what a parameter takes here: " in verdict.feedback


def test_the_numbers_of_the_solution_agree_with_the_run():
    for seed in range(40):
        problem = build("claim-in-run", seed)
        for step in problem.solution:
            if "GB" in step.text:
                assert wrong_number(step.text, problem.answer.run) is None


def test_a_size_is_held_to_the_thing_that_it_is_said_of():
    run = replace(RUN, named={"logit": (13 * GB,), "activation": (27 * GB,), "peak": (80 * GB,)})
    assert wrong_number("the logits take 13 GB and the peak is 79 GB", run) is None
    found = wrong_number("the logits take 27 GB", run)
    assert "27 GB is no size of this run; the nearest is 13" in found.says
