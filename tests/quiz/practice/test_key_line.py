from dataclasses import replace

import pytest

from problems.registry import build
from quiz.practice.key_line import behind_verdict, in_one_line, of_question
from quiz.practice.session import Session, respond, seen

TWO = Session(problems=("made@7", "made@8"))


def answered(session, problem):
    return respond(session, problem, "37 GB", seconds=1, ask_again=True)[0]


def said(keys, room=80):
    return in_one_line(keys, room)


def test_keys_that_are_symbols_of_the_question_stand_as_words(states_problem):
    # The problem's symbols are P and s.
    assert said(of_question(TWO, states_problem)) == (
        "h hint · r reading · skip · w solution · q stop · ? help"
    )


def test_a_key_stands_there_while_it_does_something(states_problem):
    shown = replace(TWO, hints=len(states_problem.hints))
    assert "hint" not in said(of_question(shown, states_problem))
    again = answered(TWO, states_problem)
    assert " · u undo · " in said(of_question(again, states_problem))
    assert "undo" not in said(of_question(seen(again), states_problem))


def test_behind_a_verdict_undo_stands_until_the_solution_was_seen(states_problem):
    after = answered(TWO, states_problem)
    assert said(behind_verdict(after, states_problem)) == "enter next · w why · u undo · q stop"
    assert said(behind_verdict(seen(after), states_problem)) == "enter next · w why · q stop"


def test_the_last_verdict_is_followed_by_the_score_and_a_claims_by_ones_own_mark(claim_problem):
    last = respond(
        Session(problems=("made@7",)), claim_problem, "false", seconds=1, ask_again=True
    )[0]
    keys = said(behind_verdict(last, claim_problem))
    assert keys == "enter score · w why · o your own mark · u undo · q stop"


def test_a_claim_that_was_passed_over_has_no_mark_of_ones_own(claim_problem):
    session = Session(problems=("made@7",))
    passed = respond(session, claim_problem, "skip", seconds=1, ask_again=True)[0]
    assert "o your own mark" not in said(behind_verdict(passed, claim_problem))


@pytest.mark.parametrize(
    ("room", "line"),
    [
        (80, "h hint · r reading · s skip · w solution · q stop · ? help"),
        (57, "h hint · r reading · s skip · w solution · q · ? help"),
        (39, "h hint · r reading · s · w · q · ? help"),
        (20, "h r s w q · ? help"),
    ],
)
def test_a_narrow_line_has_the_keys_alone(room, line):
    problem = build("zero-states", 7)
    assert in_one_line(of_question(TWO, problem), room) == line
