"""Several numbers marked: each by itself, what follows from the others by them, in many lines."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.count import CountAnswer
from problems.answers.ledger import LedgerAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.table import TableAnswer
from problems.answers.terms import Follows, Term
from problems.problem import Mistake
from quiz.answers import Unreadable
from quiz.grading import diagnose, grade
from quiz.marking.parsed import restored, written
from quiz.marking.registry import marker_of, request_of
from quiz.practice.events import Unread, WantsRest, Withdrawn
from quiz.practice.session import Session, respond

GB = 10**9


def size(name, gb, follows=None, band="count"):
    answer = QuantityAnswer(value=Fraction(gb) * GB, band=band)
    return Term(name=name, answer=answer, follows=follows)


def mistake(term, name, gb):
    return Mistake(
        name=name, value=Fraction(gb) * GB, feedback=f"{gb}.00 GB is {name}.", term=term
    )


PARTS = ("weights", "gradients", "optimizer")
STATES = LedgerAnswer(
    terms=(
        size("weights", 14),
        size("gradients", 14),
        size("optimizer", 84),
        size("total", 112, Follows(how="sum", of=PARTS)),
    )
)
STAGES = TableAnswer(
    terms=(size("DDP", 112), size("ZeRO-1", 49), size("ZeRO-3", 28)), over="stages"
)
LINE = LedgerAnswer(
    terms=(
        size("per sequence", 18, band="estimate"),
        size("fixed", 34, band="estimate"),
        Term(
            name="most",
            answer=CountAnswer(value=2, noun="sequences"),
            follows=Follows(how="fits", of=("per sequence", "fixed"), room=Fraction(80 * GB)),
        ),
    )
)


MOMENTS = LedgerAnswer(
    terms=(
        size("loss", 112),
        size("step", 20),
        size("peak", 112, Follows(how="largest", of=("loss", "step"))),
    )
)


@pytest.fixture
def states(make_problem):
    mistakes = (
        mistake("optimizer", "master copy forgotten", 56),
        mistake("gradients", "gradients in 32 bits", 28),
        mistake("total", "weights forgotten", 98),
    )
    return replace(make_problem(STATES), mistakes=mistakes)


@pytest.fixture
def stages(make_problem):
    return make_problem(STAGES)


@pytest.fixture
def line(make_problem):
    return make_problem(LINE)


@pytest.mark.parametrize(
    ("typed", "score", "named"),
    [
        ("14, 14, 84 = 112", 1, None),
        ("14.2, 13.8, 84, 112", 1, None),
        # A share of 1/4 of one term in four.
        ("14, 14, 84, 98", Fraction(13, 16), "weights forgotten"),
        # The total follows from what was typed.
        ("14, 28, 84, 126", Fraction(13, 16), "gradients in 32 bits"),
        ("14, 20, 84, 118", Fraction(3, 4), None),
        # Neither right nor following.
        ("14, 20, 84, 150", Fraction(1, 2), None),
        ("14, 14", Fraction(1, 2), None),
        ("14", Fraction(1, 4), None),
        ("total 112", Fraction(1, 4), None),
        ("1, 2, 3, 7", 0, None),
    ],
)
def test_each_term_has_the_same_share_and_one_error_is_counted_once(states, typed, score, named):
    verdict = grade(states, typed)
    assert (verdict.score, verdict.mistake) == (score, named)


@pytest.mark.parametrize(
    ("typed", "score"),
    [
        ("18, 34, 2", 1),
        ("19.9, 30, 2", 1),
        # 80 - 44 = 36 are three of 12.
        ("12, 44, 3", Fraction(2, 3)),
        ("18, 34, 3", Fraction(2, 3)),
        ("most 2", Fraction(1, 3)),
    ],
)
def test_a_count_is_right_or_follows(line, typed, score):
    assert grade(line, typed).score == score


@pytest.mark.parametrize(
    ("typed", "score"),
    [
        ("112, 20, 112", 1),
        ("60, 80, 80", Fraction(1, 3)),
        ("60, 80, 140", 0),
        ("60, 20, 112", Fraction(2, 3)),
    ],
)
def test_a_maximum_is_right_or_follows(make_problem, typed, score):
    assert grade(make_problem(MOMENTS), typed).score == score


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (
            "14, 14, 84, 112",
            ("Right: weights 14.00 GB, gradients 14.00 GB, optimizer 84.00 GB, total 112.00 GB."),
        ),
        (
            "14, 28, 56, 98",
            (
                "Right: weights. Gradients: 28.00 GB is gradients in 32 bits. Optimizer: 56.00 GB "
                "is master copy forgotten. By your own numbers total follows: counted as right."
            ),
        ),
        ("14, 14", "Right: weights and gradients. Left out: optimizer and total."),
        (
            "10, 10, 84, 112",
            "Right: optimizer and total. Weights and gradients: Yours is 29% too low.",
        ),
        ("1, 2, 5, 12", "Off too: total."),
    ],
)
def test_feedback_says_which_are_right_which_are_off_and_why(states, typed, says):
    assert says in grade(states, typed).feedback


def test_a_verdict_keeps_every_term(states):
    verdict = grade(states, "14, 28 GB, total 126")
    kept = {"weights": 14 * GB, "gradients": 28 * GB, "optimizer": None, "total": 126 * GB}
    assert verdict.parsed == kept
    assert restored(written(verdict.parsed)) == kept
    assert json.loads(json.dumps(verdict.as_json))["parsed"] == kept
    assert verdict.reading == "weights 14.00 GB, gradients 28.00 GB, total 126.00 GB"


def test_rows_from_the_last_to_the_first_are_told(stages):
    verdict = grade(stages, "28, 49, 112")
    assert (verdict.mistake, verdict.score) == ("upside down", Fraction(1, 3))
    assert "from the last of the stages to the first" in verdict.feedback
    assert grade(stages, "112, 49, 28").score == 1


def test_gb_for_gib_is_named_once_for_all_terms(stages):
    verdict = grade(stages, "112 GiB, 49 GiB, 28 GiB")
    assert (verdict.mistake, verdict.score) == ("GB typed as GiB", Fraction(1, 2))
    assert verdict.feedback.count("The number is right in GB") == 1


@pytest.mark.parametrize("problem", ["states", "stages", "line"])
def test_what_is_asked_for_is_listed_below_the_question(problem, request):
    answer = request.getfixturevalue(problem).answer
    wants = request_of(answer).wants
    assert all(name in wants for name in answer.names)
    assert request_of(answer).items == ()


def test_unreadable_text_is_told_where(states):
    assert isinstance(grade(states, "14, foo 3"), Unreadable)


def test_several_numbers_have_no_diagnosis_as_one(states):
    assert diagnose(states, Fraction(14 * GB)) is None


def test_a_line_as_long_as_it_may_be_is_read(states):
    longest = marker_of(states.answer).longest
    assert not isinstance(grade(states, "14, 14, 84, 112".ljust(longest)), Unreadable)


def say(problem, *lines, ask_again=True):
    session, event = Session(problems=("made@7",)), None
    for typed in lines:
        session, event = respond(session, problem, typed, seconds=1.0, ask_again=ask_again)
    return session, event


def test_a_person_may_type_a_term_a_line(states):
    session, event = say(states, "14")
    assert event == WantsRest(
        says="And gradients? Then optimizer and total. Enter alone leaves the rest out."
    )
    assert session.pending == "14"
    session, event = say(states, "14", "14 GB", "84", "112")
    assert (event.attempt.verdict.score, session.pending) == (1, "")
    assert event.attempt.verdict.answer == "14; 14 GB; 84; 112"


def test_what_enter_leaves_out_is_the_last_one_where_only_that_is_missing(states):
    _, event = say(states, "14, 14, 84")
    assert event == WantsRest(says="And total? Enter alone leaves it out.")


@pytest.mark.parametrize("first", ["14, , 84, 112", "14,,84,112", "14, -, 84, 112"])
def test_the_next_line_fills_the_place_left_empty(states, first):
    _, event = say(states, first, "14")
    assert event.attempt.verdict.score == 1


@pytest.mark.parametrize("first", ["14, , 84", "14,,84", "14, -, 84"])
def test_places_left_empty_are_asked_for_last_as_they_are_filled(states, first):
    _, event = say(states, first)
    assert event == WantsRest(says="And total? Then gradients. Enter alone leaves the rest out.")
    _, event = say(states, first, "112", "14")
    assert event.attempt.verdict.score == 1


def test_a_line_may_have_some_numbers_with_blanks_between_them(states):
    _, event = say(states, "14 14", "84", "112")
    assert event.attempt.verdict.score == 1


@pytest.mark.parametrize("last", ["", "-", "skip"])
def test_enter_leaves_out_what_is_missing(states, last):
    _, event = say(states, "14, 14", last)
    assert event.attempt.verdict.score == Fraction(1, 2)


def test_a_pipe_is_not_asked_again(states):
    _, event = say(states, "14, 14", ask_again=False)
    assert event.attempt.verdict.score == Fraction(1, 2)


def test_a_line_that_cannot_be_read_keeps_those_before_it(states):
    session, event = say(states, "14", "weights 15")
    assert isinstance(event, Unread)
    assert event.why.offset <= len(event.typed)
    assert session.pending == "14"


def test_lines_that_wait_can_be_taken_back(states):
    session, event = say(states, "14", "14", "undo")
    assert (session.pending, type(event)) == ("", Withdrawn)
