"""The keys under a question of an interview are those that do something there."""

import pytest

from quiz.interview.key_line import of_question
from quiz.interview.sitting import Sitting, respond
from quiz.practice.key_line import in_one_line


def said(sitting):
    return in_one_line(of_question(sitting), 80)


def at(interview, key, *, at_once=False):
    sitting = Sitting(interview=interview, at_once=at_once)
    while sitting.question.key != key:
        sitting, _ = respond(sitting, "", 1.0)
    return sitting


def test_where_only_points_are_heard_nothing_is_read_and_nothing_hinted(interview):
    assert said(at(interview, "conditions")) == "enter next · s skip · p pause · q stop · ? help"


def test_a_key_that_is_a_symbol_stands_as_its_word(interview):
    # The symbol s stands in the problem.
    line = said(at(interview, "states"))
    assert line == ("enter next · h hint · r reading · skip · u undo · p pause · q stop · ? help")


def test_a_hint_stands_there_until_the_last_was_shown(interview):
    sitting = at(interview, "states")
    for _ in sitting.question.problem.hints:
        assert "h hint" in said(sitting)
        sitting, _ = respond(sitting, "hint", 1.0)
    assert "hint" not in said(sitting)


@pytest.mark.parametrize(
    ("key", "at_once", "can"),
    [("terms", False, False), ("states", False, True), ("states", True, False)],
)
def test_undo_stands_there_where_something_can_be_taken_back(interview, key, at_once, can):
    sitting = at(interview, key, at_once=at_once)
    assert ("undo" in said(sitting)) is can
    spoken, _ = respond(sitting, "the weights", 1.0)
    assert "u undo" in said(spoken)
