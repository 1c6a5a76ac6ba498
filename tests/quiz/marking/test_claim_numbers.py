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
    # 16 x 1.02 and 5.5 x 1.02; 80 x 1.15 and 80 x 0.85.
    "16.32 bytes",
    "5,61 bytes a parameter",
    "92 GB",
    "68 GB",
    # 2 + 4 + 8, and 2 + 2 + 4.
    "weights with master and moments take 14 bytes",
    "all but the moments: weights with gradients with master 8 bytes",
    "7 bytes + 9 bytes",
    "3 * 7 bytes",
    # Bytes of a logit, a token or an entry are none of a parameter.
    "12 bytes x 32768 x 32000",
    "12 bytes for each logit: 12 x 32768 x 32000",
    "12 bytes an entry of the logits",
    "34 bytes a token and layer",
]
CONTRADICTS = [
    ("8 bytes now", "8 bytes"),
    ("false, it is 8 bytes per parameter now", "8 bytes per parameter"),
    ("from 16 bytes to 8 bytes", "8 bytes"),
    ("20 B/param", "20 B/param"),
    ("the moments take 7 bytes", "7 bytes"),
    ("that is 200 GB", "200 GB"),
    ("5 GiB of it, 16 bytes a param", "5 GiB"),
    ("20 bytes a param, 5 GiB of it", "20 bytes a param"),
    ("16.33 bytes", "16.33 bytes"),
    ("5.62 bytes a parameter", "5.62 bytes a parameter"),
    ("93 GB", "93 GB"),
    ("67 GB", "67 GB"),
    # A state that another clause names does not have these bytes.
    ("weights shrink, now 8 bytes", "8 bytes"),
    ("8 bytes, moments included", "8 bytes"),
    ("the moments take 8 bytes, 7 bytes with the rest", "7 bytes"),
]


@pytest.mark.parametrize("typed", AGREES)
def test_what_the_run_has_is_let_through(typed):
    assert wrong_number(typed, RUN) is None


def test_bytes_that_the_run_does_not_have_are_answered_with_the_whole_and_the_share():
    found = wrong_number("8 bytes now", RUN)
    assert found.says == (
        "8 bytes is not what a parameter takes here: 2 + 2 + 4 + 8 = 16, 5.5 on one GPU."
    )


def test_where_nothing_is_sharded_no_share_is_told():
    found = wrong_number("8 bytes now", replace(RUN, shared=RUN.each))
    assert found.says == "8 bytes is not what a parameter takes here: 2 + 2 + 4 + 8 = 16."


@pytest.mark.parametrize(("typed", "agrees"), [("4", True), ("8", True), ("2", False)])
def test_moments_of_8_bytes_are_two_of_4(typed, agrees):
    run = replace(RUN, each=Fraction(8), shared=Fraction(8), parts=(8,))
    assert (wrong_number(f"the moment takes {typed} bytes", run) is None) is agrees


@pytest.mark.parametrize(("typed", "nearest"), [("50 GB", 37), ("200 GB", 80), ("2 GB", 13)])
def test_the_nearest_size_of_the_run_is_told(typed, nearest):
    found = wrong_number(f"that is {typed}", RUN)
    assert found.says.startswith(f"{typed} is no size of this run; the nearest is {nearest}")


@pytest.mark.parametrize(
    ("typed", "agrees"),
    [
        ("activations take 27 GB", True),
        ("Activations take 13 GB", False),
        ("activations with logits take 80 GB", True),
        ("activations take 27 GB, logits 13 GB", True),
        # Of several things each may be meant, also where the ledger has no such line.
        ("logits and their gradients take 11 GB", True),
        ("logits with activations take 2 GB", False),
        ("the others take 13 GB at the peak", True),
        ("the peak is 13 GB", False),
        ("logits take 13 GB of an 80 GB peak", True),
        ("logits take 13 GB of a 40 GB peak", False),
        # What has no size of its own may be any.
        ("the buffer takes 80 GB", True),
    ],
)
def test_a_size_is_held_to_the_one_thing_that_its_clause_names(typed, agrees):
    named = {"logit": (13 * GB,), "activation": (27 * GB,), "gradient": (11 * GB,), "buffer": ()}
    named["peak"] = (80 * GB,)
    assert (wrong_number(typed, replace(RUN, named=named)) is None) is agrees


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
    says = "20 bytes per parameter is not what a parameter takes here: "
    assert verdict.feedback.startswith(f"In part: {problem.answer.said}. {says}")


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
