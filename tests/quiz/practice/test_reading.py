import pytest

from problems.registry import build, kinds
from quiz.marking.registry import forms_of
from quiz.practice.events import Clash, Marked, Readable, Reading, Unread, WantsRest
from quiz.practice.session import Session, respond

TWO = Session(problems=("made@7", "made@8"), hints=1)


def say(problem, *lines, session=TWO):
    event = None
    for line in lines:
        session, event = respond(session, problem, line, seconds=9, ask_again=True)
    return session, event


@pytest.mark.parametrize("typed", ["r 37 gb", " R: 37 GB", "reading 37 GB", "reading: 37 GB"])
def test_an_answer_is_read_and_not_given(states_problem, typed):
    session, event = say(states_problem, typed)
    assert session == TWO
    assert event == Reading(reading="37 GB = 37.0e9 bytes = 34.5 GiB")


def test_what_cannot_be_read_is_pointed_at_without_the_key(states_problem):
    session, event = say(states_problem, "r 37 bananas")
    assert session == TWO
    assert isinstance(event, Unread)
    assert event.typed[event.why.offset :] == "bananas"


@pytest.mark.parametrize("typed", ["r", "R ", "reading"])
def test_the_key_alone_says_what_is_read(states_problem, typed):
    session, event = say(states_problem, typed)
    assert session == TWO
    assert event == Readable(forms=forms_of(states_problem.answer))


def test_the_half_that_waits_is_read_with_the_other(fits_problem):
    waiting, event = say(fits_problem, "yes")
    assert isinstance(event, WantsRest)
    session, event = say(fits_problem, "r 93 GB", session=waiting)
    assert session == waiting
    assert event.reading.startswith("yes, 93 GB")


def test_what_was_heard_about_a_claim_is_not_told_before_it_is_given(claim_problem):
    typed = "false, each rank holds the activations of its own micro-batch"
    _, given = say(claim_problem, typed)
    _, asked = say(claim_problem, f"r {typed}")
    assert given.attempt.verdict.remarks
    assert asked == Reading(reading="false")


def test_a_letter_of_the_formula_is_no_key_and_the_word_is():
    problem = next(
        found
        for kind in kinds()
        if kind.endswith("formula") or "adapter" in kind
        for found in (build(kind, seed) for seed in range(3))
        if {"r", "R"} & {*found.answer.alone}
    )
    letter = ({"r", "R"} & {*problem.answer.alone}).pop()
    assert isinstance(say(problem, letter)[1], Clash)
    assert isinstance(say(problem, f"{letter} * 2")[1], Marked | Unread)
    assert isinstance(say(problem, f"reading {letter} * 2")[1], Reading | Unread)


@pytest.mark.parametrize("typed", ["r > fa", "r = fa", "r, fa", "r ~ fa"])
def test_an_order_that_begins_with_the_key_is_an_answer(typed):
    event = say(build("rank-levers", 1), typed)[1]
    assert not isinstance(event, Reading)
    assert isinstance(event, Marked) or event.typed == typed


def test_an_approximation_behind_the_key_is_read(states_problem):
    assert say(states_problem, "r ~30 GB")[1].reading.startswith("about 30 GB")
