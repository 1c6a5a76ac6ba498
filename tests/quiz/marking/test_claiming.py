"""A claim as a question: marked like any other, and told which words earned what."""

import re
from fractions import Fraction

import pytest

from problems.claims import claim, claims
from problems.registry import build
from quiz.answers import Unreadable
from quiz.grading import grade, skipped

RIGHT = "False: each rank keeps the activations of its own micro-batch, only states are sharded."


@pytest.mark.parametrize(
    ("typed", "score"),
    [(RIGHT, 1), ("false", "1/2"), ("true, activations are sharded as well", 0), ("", 0)],
)
def test_a_label_is_a_score(claim_problem, typed, score):
    assert grade(claim_problem, typed).score == Fraction(score)


def test_the_words_that_earned_something_are_shown_with_what_they_were_heard_as(claim_problem):
    verdict = grade(claim_problem, RIGHT)
    assert verdict.reading == "false"
    assert any(remark.startswith("“") and "own" in remark for remark in verdict.remarks)


def test_a_false_statement_is_quoted_and_answered(claim_problem):
    verdict = grade(claim_problem, "true, activations are sharded as well")
    assert verdict.mistake == claim("zero3-activations").errors[0].says.removesuffix(".")
    assert verdict.feedback.startswith("Not quite: false.")
    assert "Not so: “" in verdict.feedback
    assert any("false:" in remark for remark in verdict.remarks)


def test_a_false_statement_of_no_claim_of_its_own_is_answered_too(claim_problem):
    verdict = grade(claim_problem, f"{RIGHT} The optimizer state is allocated in the constructor.")
    assert verdict.mistake == "The optimizer state is allocated in the constructor"
    assert "Not so: “" in verdict.feedback
    assert "constructor" in verdict.feedback


def test_what_is_missing_is_said(claim_problem):
    assert "What is missing: " in grade(claim_problem, "false").feedback


@pytest.mark.parametrize(
    "typed", ["\x1b[31mfalse", "false \u202e", "x" * 1001, "\ud800", "false \ufffd"]
)
def test_hostile_text_is_refused(claim_problem, typed):
    assert isinstance(grade(claim_problem, typed), Unreadable)


def test_the_answer_of_a_claim_is_its_truth_and_its_core(claim_problem):
    said = skipped(claim_problem, shown=True).feedback
    assert said.startswith("The answer: false. ")


def test_every_claim_can_be_asked():
    asked = {build("claim", seed).answer.claim for seed in range(600)}
    assert asked == set(claims())


OWN = "Each rank holds the activations of its own micro-batch."
STATES = "Parameters, gradients and optimizer states are sharded."


@pytest.mark.parametrize(
    ("typed", "feedback"),
    [
        ("false", f"In part: {{}}. What is missing: {OWN}"),
        (
            "false, each rank keeps its own activations",
            f"Right: {{}}. A stronger answer adds: {STATES}",
        ),
        (
            "zero++ quantizes the all-gather to int8 for less traffic",
            (
                "Not quite: {}. This does not hold: “zero++ quantizes the all-gather to int8 for "
                f"less traffic”. What is missing: {OWN}"
            ),
        ),
        (
            "true, activations are sharded as well",
            (
                "Not quite: {}. Not so: “Each rank holds 1/N of the activations.” Each rank has "
                f"its own micro-batch and keeps all of its activations. What is missing: {OWN}"
            ),
        ),
        (
            (
                "Mostly true I think, only that activations of its own batch stay on each rank, "
                "while weights, grads, optimizer are split"
            ),
            "In part: {}.",
        ),
    ],
)
def test_feedback_is_the_answer_what_was_false_and_what_is_missing(claim_problem, typed, feedback):
    assert grade(claim_problem, typed).feedback == feedback.format(claim_problem.answer.said)


@pytest.mark.parametrize(
    ("typed", "reading", "mistake"),
    [
        ("", "no verdict", None),
        ("false", "false", None),
        ("true", "true", None),
        ("zero++ quantizes the all-gather to int8 for less traffic", "true", "a false reason"),
        (
            "Mostly true I think, only that activations of its own batch stay on each rank",
            "true",
            "hedged the wrong way",
        ),
    ],
)
def test_a_claim_is_read_as_a_verdict_and_its_mistake_is_named(
    claim_problem, typed, reading, mistake
):
    verdict = grade(claim_problem, typed)
    assert (verdict.reading, verdict.mistake, verdict.answer) == (reading, mistake, typed)


@pytest.mark.parametrize("length", [60, 61, 90])
def test_the_words_are_quoted_in_60_characters_at_most(claim_problem, length):
    said = "each rank  keeps its own activations".ljust(length + 1, "x")
    remark = grade(claim_problem, f"false: {said}").remarks[0]
    shown = said.replace("  ", " ")
    quoted = shown if length == 60 else f"{shown[:59]}…"
    assert remark == f"“{quoted}”: {OWN}"


def test_a_close_call_is_told(claim_problem):
    typed = (
        "no, activations are local to the rank. and so is the entire gathered model, which stays "
        "unsharded from first layer till the step ends"
    )
    last = grade(claim_problem, typed).remarks[-1]
    assert re.fullmatch(r"a close call: correct at 5\d%", last)


def test_a_sure_label_is_no_close_call(claim_problem):
    assert grade(claim_problem, "false").remarks == ()


def test_a_false_statement_of_the_field_is_told_with_what_it_was_heard_as(claim_problem):
    verdict = grade(claim_problem, f"{RIGHT} The optimizer state is allocated in the constructor.")
    assert verdict.remarks[-1] == (
        "“The optimizer state is allocated in the constructor”: "
        "false: The optimizer state is allocated in the constructor."
    )
