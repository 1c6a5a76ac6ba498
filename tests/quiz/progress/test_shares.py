from fractions import Fraction

import pytest

from quiz.progress.shares import effort, share


def attempts(answered):
    return [one.attempt for one in answered]


@pytest.mark.parametrize(
    ("wrong", "right", "lately", "before"),
    [
        (0, 0, None, None),
        (1, 0, 0, None),
        (4, 20, 1, None),
        (5, 20, 1, 0),
        (10, 10, Fraction(1, 2), None),
        (30, 10, Fraction(1, 2), 0),
        (0, 100, 1, 1),
    ],
)
def test_the_last_twenty_questions_stand_beside_the_twenty_before(
    row_of_answers, wrong, right, lately, before
):
    made = [*row_of_answers(wrong, score=0), *row_of_answers(right)]
    found = share(attempts(made))
    assert (found.questions, found.lately, found.before) == (wrong + right, lately, before)


def test_what_was_passed_over_is_no_credit_and_no_answer(row_of_answers):
    made = attempts(
        (*row_of_answers(2), *row_of_answers(2, score=0, verdict="shown", seconds=900.0))
    )
    assert share(made).lately == Fraction(1, 2)
    (one,) = effort(made)
    assert (one.answers, one.share, one.seconds) == (2, 1, 60)


def test_the_learners_own_mark_counts(row_of_answers):
    assert share(attempts(row_of_answers(2, score=0, own="partial"))).lately == Fraction(1, 2)


def test_time_is_the_median_by_level_and_answers_without_one_come_last(row_of_answers):
    made = attempts(
        (
            *row_of_answers(1, level=None, seconds=5.0),
            *row_of_answers(1, level="senior", seconds=3600.0),
            *row_of_answers(2, level="senior", seconds=30.0, hints=2),
            *row_of_answers(2, level="junior", seconds=10.0),
        )
    )
    found = [(one.level, one.answers, one.seconds, one.hints) for one in effort(made)]
    assert found == [("junior", 2, 10, 0), ("senior", 3, 30, 4), (None, 1, 5, 0)]
