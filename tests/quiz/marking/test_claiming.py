"""A claim as a question: marked like any other, and told which words earned what."""

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
