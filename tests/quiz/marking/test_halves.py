"""A yes or no whose number comes in a second line, and the score of an answered question."""

from dataclasses import replace
from fractions import Fraction

import pytest

from quiz.answers import Unreadable
from quiz.grading import grade, skipped
from quiz.marking.attempt import Attempt
from quiz.marking.registry import marker_of


@pytest.fixture
def halves(fits_problem):
    return marker_of(fits_problem.answer).halves


@pytest.mark.parametrize(
    ("typed", "lacks"), [("no", True), ("yes", True), ("no, 93 GB", False), ("no, 0 GB", False)]
)
def test_a_verdict_without_a_number_lacks_it(fits_problem, halves, typed, lacks):
    assert halves.lacks(grade(fits_problem, typed)) is lacks


def test_an_answer_that_was_passed_over_lacks_nothing(fits_problem, halves):
    assert not halves.lacks(skipped(fits_problem, shown=True))


@pytest.mark.parametrize(("line", "whole"), [("93 GB", "no, 93 GB"), ("no, 93", "no, no, 93")])
def test_the_number_is_put_behind_what_was_said_first(halves, line, whole):
    assert halves.lead("no", line) + line == whole


@pytest.mark.parametrize(
    ("first", "line", "reason"),
    [
        ("no", "yes", "your no stands; type its number, or undo to take it back"),
        ("yes", "no, 5 GB", "your yes stands; type its number, or undo to take it back"),
        ("no", "no", "type its number; Enter alone leaves it out"),
        ("yes", " yes ", "type its number; Enter alone leaves it out"),
    ],
)
def test_what_was_said_first_stands(halves, first, line, reason):
    assert halves.lead(first, line) == Unreadable(offset=0, reason=reason)


def test_a_yes_or_no_counts_by_the_learners_own_mark_where_there_is_one(fits_problem):
    attempt = Attempt(topic="D", verdict=grade(fits_problem, "no"), hints=0, seconds=1.0)
    assert attempt.score == Fraction(1, 2)
    assert replace(attempt, own="correct").score == 1
    assert replace(attempt, own="wrong").score == 0
