"""Times as people type them."""

from fractions import Fraction

import pytest

from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from quiz.answers import Unreadable, describe, read_seconds
from quiz.grading import grade

HALF = QuantityAnswer(value=Fraction(1, 2), unit="s", default_unit="s")


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("0.5", "1/2"),
        ("0.5 s", "1/2"),
        (".5s", "1/2"),
        ("500 ms", "1/2"),
        ("500ms", "1/2"),
        ("500 milliseconds.", "1/2"),
        ("250000 us", "1/4"),
        ("250000 µs", "1/4"),
        ("about 3 sec", 3),
        ("2-4 seconds", 3),
        ("1.5 min", 90),
        ("6.4/8 s", "4/5"),
        ("2 + 1 s", 3),
    ],
)
def test_a_time_is_read_in_seconds(typed, seconds):
    read = read_seconds(typed)
    assert not isinstance(read, Unreadable), read
    assert read.value == Fraction(seconds)
    assert read.unit == "s"


def test_both_ends_of_a_range_and_other_readings_are_in_seconds():
    read = read_seconds("200-400 ms")
    assert (read.low, read.value, read.high) == (Fraction(1, 5), Fraction(3, 10), Fraction(2, 5))
    assert read_seconds("1,500 ms").alternatives == (Fraction(3, 2000),)


@pytest.mark.parametrize("typed", ["", "s", "ms", "fast", "5 GB", "3 s ms", "2 hours", "-1 s"])
def test_what_is_no_time_is_refused(typed):
    assert isinstance(read_seconds(typed), Unreadable)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("500 ms", "0.5 s"),
        ("about 2-3 s", "about 2 to 3 s"),
        ("0.0123", "0.0123 s"),
        ("10000", "10,000 s"),
    ],
)
def test_a_reading_is_told_in_seconds(typed, said):
    assert describe(read_seconds(typed)) == said


@pytest.mark.parametrize(
    ("typed", "score"), [("0.505 s", 1), ("495 ms", 1), ("0.6 s", 0), ("500 s", 0)]
)
def test_a_time_is_marked_like_a_count(make_problem, typed, score):
    assert grade(make_problem(HALF), typed).score == score


def test_the_right_time_is_told_with_its_unit(make_problem):
    assert grade(make_problem(HALF), "3 s").feedback.startswith("Not quite: 0.5 s.")


@pytest.mark.parametrize(
    ("typed", "score"), [("yes, 500 ms", 1), ("yes: 0.5", 1), ("no, 0.5 s", "1/2"), ("yes", "1/2")]
)
def test_a_time_may_prove_a_yes(make_problem, typed, score):
    problem = make_problem(YesNoAnswer(value=True, proof=HALF))
    assert grade(problem, typed).score == Fraction(score)
