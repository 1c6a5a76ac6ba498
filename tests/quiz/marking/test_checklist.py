"""Actions in order, typed and marked: pairs, ties, and what is to be left out."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.checklist import Action, ChecklistAnswer
from problems.answers.ranking import RankedItem
from quiz.grading import Unreadable, grade
from quiz.marking.registry import request_of

ROWS = (
    ("a", "smaller micro-batch", ("mb",), "It halves 20 GB of activations."),
    ("b", "flash attention", ("fa",), "It drops 12 GB of scores at no cost."),
    ("c", "ZeRO-1", ("z1",), "It shards 40 GB."),
    ("d", "8-bit optimizer", ("8bit",), "No optimizer state is alive here."),
    ("e", "empty the cache", ("cache",), "Live tensors stay."),
)


def checklist(order=(("b",), ("a", "c")), rows=ROWS):
    return ChecklistAnswer(
        actions=tuple(
            Action(
                item=RankedItem(key=key, name=name, aliases=aliases, value=Fraction(0)), why=why
            )
            for key, name, aliases, why in rows
        ),
        order=order,
        first="cheapest",
    )


@pytest.fixture
def levers(make_problem):
    return make_problem(checklist())


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


# Two pairs of the order, and three actions that help with two that do not: eight in all.
@pytest.mark.parametrize(
    ("typed", "score"),
    [
        ("b > a > c", 1),
        ("b c a", 1),
        ("fa, mb, z1", 1),
        ("b > a = c", 1),
        ("a > b > c", "7/8"),
        ("a > c > b", "6/8"),
        ("b = a > c", Fraction(15, 16)),
        ("b > a", Fraction(5, 8)),
        ("b > a > c > d", Fraction(13, 16)),
        ("d > b > a > c", "5/8"),
        ("b > a > c > d > e", "5/8"),
        ("d > e", 0),
        ("d > e > b > a > c", "2/8"),
    ],
)
def test_the_score_is_the_share_of_the_pairs(levers, typed, score):
    assert marked(levers, typed).score == Fraction(score)


def test_a_right_answer_is_one_line(levers):
    said = "Right: flash attention > smaller micro-batch = ZeRO-1."
    assert marked(levers, "b a c").feedback == said


def test_the_first_pair_out_of_order_is_named_with_both_reasons(levers):
    assert marked(levers, "c > a > b").feedback == (
        "In part: flash attention > smaller micro-batch = ZeRO-1. Smaller micro-batch before "
        "flash attention: It drops 12 GB of scores at no cost. It halves 20 GB of activations."
    )


def test_what_does_not_help_is_named_with_its_reason(levers):
    verdict = marked(levers, "b > a > c > e")
    assert verdict.mistake == "an action that does not help"
    assert verdict.feedback.endswith("To be left out: empty the cache. Live tensors stay.")


def test_what_was_left_out_is_named(levers):
    assert marked(levers, "b > a").feedback.endswith("Left out, and so lost: ZeRO-1.")


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("", "type"),
        ("b", "type"),
        ("b > b", "each item once"),
        ("b > x", "none of the items"),
        ("b < a", "before"),
        ("b" * 9_999, "at most"),
    ],
)
def test_what_cannot_be_read_says_what_to_type(levers, typed, reason):
    found = grade(levers, typed)
    assert isinstance(found, Unreadable)
    assert reason in found.reason
    assert 0 <= found.offset <= len(typed)


def test_what_is_asked_for_stands_below_the_question():
    request = request_of(checklist())
    assert request.items[0] == "a  smaller micro-batch"
    assert request.wants == (
        "Type the letters of those that help, the cheapest first; leave out the rest."
    )


def test_json_has_the_reasons_and_the_order():
    plain = checklist().as_json
    assert plain["order"] == [["b"], ["a", "c"]]
    assert plain["items"][3]["why"] == "No optimizer state is alive here."


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        ((("b", "a"),), "nothing is before"),
        ((("b",), ("b",)), "an action twice"),
        ((("b",), ("x",)), "no action"),
        ((("b",), ()), "an action twice"),
    ],
)
def test_an_order_is_of_the_actions(order, fault):
    with pytest.raises(ValueError, match=fault):
        checklist(order)


def test_there_are_five_actions_at_least():
    with pytest.raises(ValueError, match="4 actions"):
        checklist(rows=ROWS[:4])


def test_every_action_has_a_reason():
    first, *rest = checklist().actions
    with pytest.raises(ValueError, match="a says no reason"):
        replace(checklist(), actions=(replace(first, why=""), *rest))
