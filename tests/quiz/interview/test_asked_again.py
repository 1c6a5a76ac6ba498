"""A question is not left with something said and no answer read, but for a second Enter."""

import pytest

from quiz.interview.events import Left, Unanswered
from quiz.interview.sitting import respond


def after(sitting, *lines):
    """What the last line leads to."""
    for line in lines:
        sitting, event = respond(sitting, line, 1.0)
    return sitting, event


@pytest.mark.parametrize("key", ["states", "fits", "peak-on-8"])
def test_enter_behind_a_thought_asks_once_for_the_answer(asked, key):
    sitting, event = after(asked(key), "let me think", "")
    assert isinstance(event, Unanswered)
    assert sitting.question.key == key
    assert isinstance(after(sitting, "")[1], Left)


def test_an_answer_that_is_typed_then_counts(asked):
    sitting, _ = after(asked("states"), "hmm", "", "2 GB")
    assert sitting.exchange.answer.typed == "2 GB"
    assert isinstance(after(sitting, "")[1], Left)


@pytest.mark.parametrize("lines", [(), ("2 GB",), ("hmm", "2 GB"), ("2 GB", "hmm")])
def test_nothing_is_asked_where_nothing_was_said_or_an_answer_stands(asked, lines):
    assert isinstance(after(asked("states"), *lines, "")[1], Left)


def test_what_is_passed_over_is_left_at_once(asked):
    assert isinstance(after(asked("states"), "hmm", "skip")[1], Left)


def test_where_points_are_listened_for_nothing_is_asked(asked):
    assert isinstance(after(asked("state-terms"), "weights", "")[1], Left)
