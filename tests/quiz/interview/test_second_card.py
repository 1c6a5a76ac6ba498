import re
from fractions import Fraction
from io import StringIO

import pytest
from desk_keys import STARTED, press, text
from rich.console import Console

from quiz.interview.card_screen import show
from quiz.interview.pages import html, markdown
from quiz.interview.second_card import card


def test_the_scorecard_has_marks_points_notes_and_times(interview):
    keys = [*"h12", "t", *"asked <b> first", "\n", *"n1234", *"nf", *"nz", *"xnz", *"nf"]
    desk = press(interview, [*keys, *"nrh", *"nnq"], seconds=30)[0].desk
    scorecard = card(desk, started=STARTED)
    replies = {one.question.key: one for part in scorecard.parts for one in part.replies}
    assert (scorecard.mode, scorecard.finished, scorecard.started) == ("two", True, STARTED)
    assert replies["conditions"].score == Fraction(1, 2)
    assert [one.point.name for one in replies["conditions"].heard] == ["micro-batch", "sequence"]
    assert [one.name for one in replies["conditions"].missed] == ["precision"]
    assert replies["conditions"].typed == ("asked <b> first",)
    # No mark was given: the share of the four points that are expected at mid.
    assert replies["terms"].score == Fraction(1)
    assert scorecard.aspects["conditions"] == Fraction(1, 2)
    # Full and zero, and a half for the follow-up; what was passed over counts nowhere.
    marks = {key: one.score for key, one in replies.items() if one.question.aspect == "number"}
    assert marks == {
        "states": 1, "activations": 0, "activations-at-16k": None, "sharded": Fraction(1, 2),
        "died": None,
    }  # fmt: skip
    assert scorecard.aspects["number"] == Fraction(1, 2)
    assert scorecard.reuse == (1, 1)
    assert "asked &lt;b&gt; first" in html(scorecard)
    assert "with an interviewer" in html(scorecard)
    assert "marked by the interviewer" in markdown(scorecard)


@pytest.mark.parametrize(
    ("keys", "missed"),
    [("f", []), ("h", ["micro-batch", "sequence", "precision"]),
     ("f1", ["sequence", "precision"]), ("f1234", []), ("f123", [])],
)  # fmt: skip
def test_a_full_mark_without_a_tick_says_that_nothing_was_missed(interview, keys, missed):
    reply = card(press(interview, keys)[0].desk, started=STARTED).parts[0].replies[0]
    assert [one.name for one in reply.missed] == missed


def test_the_end_lists_the_questions_that_were_shown_and_have_no_mark(interview):
    keys = [*"f", "n", *"12", "n", "a", *"500 GB", "\n", *"nxnhnfnfnn"]
    said = text(press(interview, keys)[0])
    assert "Shown, and without a mark:" in said
    # Two of the four points that mid expects; the states are 107.8 GB.
    assert "2 terms: counts 0.50, as it was typed or heard" in said
    assert "3 states: counts 0.00, as it was typed or heard" in said
    assert "4 activations: counts nowhere" in said
    assert "9 died: counts nowhere" in said
    assert not re.search(r"^ *[15678] ", said, re.MULTILINE)
    every = press(interview, "fn" * len(interview.questions))[0]
    assert "Each question that was shown has a mark." in text(every)


def test_the_card_says_what_was_not_marked_what_was_passed_over_and_what_by_hand(interview):
    keys = [*"n1", "n", "a", *"13.5 GB", "\n", "f", *"nxn"]
    scorecard = card(press(interview, keys)[0].desk, started=STARTED)
    replies = {one.question.key: one for part in scorecard.parts for one in part.replies}
    assert {key: one.unmarked for key, one in replies.items() if one.score is None} == {
        "conditions": "not marked", "activations": "not marked",
        "activations-at-16k": "passed over", "whole": "not marked", "saving": "not reached",
        "sharded": "not reached", "died": "not reached",
    }  # fmt: skip
    assert (replies["states"].score, replies["states"].reads) == (1, 0)
    assert replies["terms"].reads is None
    said = markdown(scorecard)
    assert "Mark 1.00, marked by the interviewer; what was typed and heard earns 0.00." in said
    assert "Passed over." in said
    assert "Not marked: conditions, exclusions. Not reached: prediction." in said
    screen = StringIO()
    show(Console(file=screen, width=80), scorecard)
    assert re.search(r"exclusions +not marked\n", screen.getvalue())
    assert re.search(r"prediction +not reached\n", screen.getvalue())
    assert re.search(r"states +13.50 GB.*marked by the interviewer\n", screen.getvalue())


def test_what_was_not_reached_has_no_mark_and_nothing_missed(interview):
    scorecard = card(press(interview, "f")[0].desk, started=STARTED)
    later = [one for part in scorecard.parts for one in part.replies][1:]
    assert not scorecard.finished
    assert all(one.score is None and not one.missed and one.reused is None for one in later)


def test_an_answer_that_was_marked_and_not_typed_is_not_called_missing(interview):
    scorecard = card(press(interview, "nnf" + "n" * 6 + "f")[0].desk, started=STARTED)
    said, screen = markdown(scorecard), StringIO()
    show(Console(file=screen, width=80), scorecard)
    assert "| states | not typed | 107.81 GB |" in re.sub(" +", " ", said)
    assert "| died | not typed |" in re.sub(" +", " ", said)
    assert "no answer" not in said + screen.getvalue()
    assert "no number" not in said
    assert re.search(r"states +- +107.81 GB.*not typed\n", screen.getvalue())
