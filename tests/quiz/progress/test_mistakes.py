from datetime import UTC, date, timedelta

import pytest

from quiz.progress.mistakes import mistakes

WHOLE, MASTER = "gradients left whole", "master copy forgotten"
WEEKS = (date(2026, 2, 16), date(2026, 2, 23), date(2026, 3, 2))
DAY = timedelta(days=1)


@pytest.fixture
def made(answer, now):
    """Answers of (days ago, mistake or None), and what else they are."""

    def make(*rows, **what):
        return tuple(
            answer(now - DAY * ago, score=0 if name else 1, mistake=name, **what)
            for ago, name in rows
        )

    return make


@pytest.fixture
def found(now):
    def look(answered, kinds=("zero-states", "peak")):
        return mistakes(answered, now, weeks=WEEKS, zone=UTC, kinds=kinds)

    return look


def test_right_answers_have_no_mistakes(found, made):
    assert found(made((3, None), (2, None))) == ()
    assert found(()) == ()


def test_times_and_chances_are_those_of_thirty_days_and_of_thirty_before(found, made):
    rows = made((61, WHOLE), (59, WHOLE), (40, None), (31, WHOLE), (29, WHOLE), (1, None))
    (one,) = found(rows)
    assert one.times == 4
    assert (one.recent.times, one.recent.chances) == (1, 2)
    assert (one.before.times, one.before.chances) == (2, 3)


@pytest.mark.parametrize(("since", "overcome"), [(0, False), (4, False), (5, True), (9, True)])
def test_a_mistake_is_overcome_by_five_questions_that_could_have_told_it(
    found, made, since, overcome
):
    rows = made((20, WHOLE), *((since - at, None) for at in range(since)))
    (one,) = found(rows)
    assert (one.since, one.overcome) == (since, overcome)


def test_questions_that_could_not_tell_it_are_no_sign(found, made):
    silent = made(*((9 - at, None) for at in range(9)), tells=(MASTER,))
    older = made(*((9 - at, None) for at in range(9)), tells=None)
    (one,) = found((*made((20, WHOLE)), *silent, *older))
    assert (one.since, one.recent.chances) == (0, 1)


def test_a_question_that_was_passed_over_is_no_sign(found, made):
    skipped = made(*((9 - at, None) for at in range(9)), verdict="skipped")
    (one,) = found((*made((20, WHOLE)), *skipped))
    assert one.since == 0


def test_questions_in_which_two_mistakes_give_one_number_are_no_sign_of_either(found, made):
    # A wrong number that two mistakes give is put down to neither.
    unnamed = made((5, None), (4, None), tells=(MASTER,))
    (one,) = found((*made((20, WHOLE)), *unnamed))
    assert (one.name, one.since) == (WHOLE, 0)


def test_what_a_learner_marked_right_was_no_mistake(found, made):
    assert found(made((3, WHOLE), own="correct")) == ()


def test_two_mistakes_at_once_are_each_made(found, made):
    both = found(made((1, f"{WHOLE} and {MASTER}")))
    assert [(one.name, one.times) for one in both] == [(WHOLE, 1), (MASTER, 1)]
    (one,) = found(made((1, "forward and backward again"), tells=("forward and backward again",)))
    assert one.name == "forward and backward again"


def test_the_most_frequent_of_the_last_thirty_days_comes_first(found, made):
    rows = made((50, MASTER), (49, MASTER), (48, MASTER), (2, WHOLE))
    assert [one.name for one in found(rows)] == [WHOLE, MASTER]


def test_it_is_practised_by_the_kind_in_which_it_was_made_most(found, made):
    rows = (
        *made((5, WHOLE), (4, WHOLE), kind="peak"),
        *made((3, WHOLE)),
        *made((2, WHOLE), (1, WHOLE), (0, WHOLE), kind="gone"),
    )
    assert found(rows)[0].kind == "peak"
    assert found(rows, kinds=("zero-states",))[0].kind == "zero-states"
    assert found(rows, kinds=())[0].kind is None


def test_of_kinds_in_which_it_was_made_as_often_the_last_one_counts(found, made):
    rows = (*made((5, WHOLE), kind="peak"), *made((3, WHOLE)))
    assert found(rows)[0].kind == "zero-states"


def test_weeks_are_those_of_the_calendar(found, made):
    # 4 March 2026 is a Wednesday: Monday is 2 days ago, Sunday 3.
    rows = made((30, WHOLE), (16, WHOLE), (3, WHOLE), (2, WHOLE), (0, WHOLE))
    assert found(rows)[0].weeks == (1, 1, 2)
