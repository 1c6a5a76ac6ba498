"""One of several things, typed by letter or name, and marked."""

import io
from fractions import Fraction

import pytest
from rich.console import Console

from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.count import CountAnswer
from problems.answers.ranking import RankedItem
from problems.json_form import as_json
from problems.registry import build
from quiz.grading import Unreadable, grade, skipped
from quiz.practice.session import Session
from quiz.practice.terminal import Terminal

ROWS = (
    ("a", "full recompute", ("ckpt", "recompute"), 31, "a dearer lever that fits"),
    ("b", "ZeRO-1", ("z1", "stage 1"), -1, "a lever that is not enough"),
    ("c", "ZeRO-2", ("z2", "stage 2"), 0, ""),
    ("d", "smaller micro-batch", ("mb",), 4, "a lever that is not enough"),
)


def choices(rows=ROWS):
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(key=key, name=name, aliases=aliases, value=Fraction(value)),
                mistake=mistake,
                feedback=f"This is about {name}.",
            )
            for key, name, aliases, value, mistake in rows
        )
    )


@pytest.fixture
def levers(make_problem):
    return make_problem(choices())


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


@pytest.mark.parametrize("typed", ["c", "C", " c ", "ZeRO-2", "zero2", "zero 2", "z2", "stage 2"])
def test_a_letter_a_name_and_a_short_name_are_read(levers, typed):
    verdict = marked(levers, typed)
    assert verdict.score == 1
    assert verdict.verdict == "correct"
    assert verdict.reading == "ZeRO-2"


@pytest.mark.parametrize(
    ("typed", "mistake"),
    [
        ("a", "a dearer lever that fits"),
        ("ckpt", "a dearer lever that fits"),
        ("z1", "a lever that is not enough"),
        ("micro-batch", "a lever that is not enough"),
    ],
)
def test_another_one_earns_nothing_and_its_mistake_is_named(levers, typed, mistake):
    verdict = marked(levers, typed)
    assert verdict.score == 0
    assert verdict.mistake == mistake


def test_feedback_says_the_right_one_and_what_is_to_be_said_of_both(levers):
    says = "Not quite: ZeRO-2. This is about ZeRO-1. This is about ZeRO-2."
    assert marked(levers, "b").feedback == says
    assert marked(levers, "c").feedback == "Right: ZeRO-2. This is about ZeRO-2."


@pytest.mark.parametrize("typed", ["", "?", "z1 > z2", "a b", "zero", "e", "quantum", "x" * 10**4])
def test_none_of_them_or_several_are_no_answer(levers, typed):
    assert isinstance(grade(levers, typed), Unreadable)


@pytest.mark.parametrize(
    ("typed", "what"),
    [
        ("z1 > z2", "type one of them only"),
        ("a b", "type one of them only"),
        ("", "type one of them, by its letter or name"),
    ],
)
def test_what_is_no_answer_is_told_what_to_type(levers, typed, what):
    refused = grade(levers, typed)
    assert what in refused.reason
    assert refused.offset == 0


def test_a_question_passed_over_tells_the_right_one(levers):
    assert skipped(levers, shown=True).feedback == "The answer: ZeRO-2."


def test_a_verdict_as_json_holds_the_letter(levers):
    assert marked(levers, "zero 1").as_json["parsed"] == [["b"]]


def test_the_things_are_shown_below_the_question_with_what_to_type(levers):
    shown = io.StringIO()
    console = Console(file=shown, width=80)
    Terminal(console, io.StringIO()).ask(Session(problems=("made@7",)), levers)
    text = shown.getvalue()
    assert "a  full recompute\n" in text
    assert "d  smaller micro-batch\n" in text
    assert "Type its letter or name." in text


def test_json_has_the_right_letter_and_every_choice_with_its_feedback(levers):
    answer = as_json(levers)["answer"]
    assert answer["type"] == "choice"
    assert answer["value"] == "c"
    assert answer["items"][0] == {
        "key": "a",
        "name": "full recompute",
        "aliases": ["ckpt", "recompute"],
        "value": 31,
        "mistake": "a dearer lever that fits",
        "feedback": "This is about full recompute.",
    }


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (ROWS[2:3], "nothing to pick from"),
        (ROWS[:2], "0 of the choices are right"),
        ((ROWS[2], ("d", "other", ("z2",), 0, "")), "2 of the choices are right"),
        ((ROWS[2], ("d", "other", ("z2",), 0, "m")), "2 items may be typed as z2"),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(rows, fault):
    with pytest.raises(ValueError, match=fault):
        choices(rows)


@pytest.mark.parametrize(
    "typed", ["2", "ZeRO-2", "zero 2", "zero2", "z2", "stage 2", "ZeRO stage 2", "two"]
)
def test_a_stage_is_typed_with_or_without_its_name(make_problem, typed):
    verdict = marked(make_problem(CountAnswer(value=2, before="ZeRO-")), typed)
    assert verdict.score == 1
    assert verdict.reading == "ZeRO-2"
    assert verdict.feedback == "Right: ZeRO-2."


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("zero 2.5", "type a whole number"), ("1-3", "type one whole number, not a range")],
)
def test_a_stage_is_one_whole_number(make_problem, typed, reason):
    refused = grade(make_problem(CountAnswer(value=2, before="ZeRO-")), typed)
    assert isinstance(refused, Unreadable)
    assert refused.reason == reason


def test_a_sentence_that_was_to_pick_ends_with_one_stop():
    problem = build("which-reason", 11)
    for choice in problem.answer.choices:
        assert ".." not in grade(problem, choice.item.key).feedback


@pytest.mark.parametrize("typed", ["0", "4", "ZeRO-4", "stage 0", "-1"])
def test_a_number_that_the_question_does_not_name_is_refused(make_problem, typed):
    answer = CountAnswer(value=2, before="ZeRO-", among=(1, 2, 3))
    refused = grade(make_problem(answer), typed)
    assert isinstance(refused, Unreadable)
    assert "1, 2 or 3" in refused.reason or typed == "-1"


@pytest.mark.parametrize("typed", ["1", "ZeRO-2", "stage 3"])
def test_a_number_that_the_question_names_is_marked(make_problem, typed):
    answer = CountAnswer(value=2, before="ZeRO-", among=(1, 2, 3))
    assert not isinstance(grade(make_problem(answer), typed), Unreadable)
