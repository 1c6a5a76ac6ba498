from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.claim import ClaimAnswer
from problems.answers.ranking import RankedItem
from problems.registry import build, kinds
from quiz.marking.registry import markers
from quiz.practice.closing import closing, summary
from quiz.practice.events import (
    Blank,
    CannotOverrule,
    Clash,
    Help,
    Hint,
    Marked,
    NoHint,
    NothingToUndo,
    Quit,
    Stands,
    Undone,
    Unread,
    WantsRest,
    Withdrawn,
)
from quiz.practice.session import Session, overrule, respond, seen, undo

THREE = Session(problems=("made@7", "made@8", "made@9"))


def say(session, problem, *lines, ask_again=True):
    """Type lines one after another; the state and the last event."""
    event = None
    for line in lines:
        session, event = respond(session, problem, line, seconds=2.5, ask_again=ask_again)
    return session, event


def test_a_readable_answer_ends_the_question(states_problem):
    session, event = say(THREE, states_problem, "25.27 GB")
    assert isinstance(event, Marked)
    assert event.attempt.verdict.score == 1
    assert (event.attempt.seconds, event.attempt.hints, event.attempt.topic) == (2.5, 0, "A")
    assert (session.position, session.finished) == (1, False)


def test_an_unreadable_answer_costs_nothing(states_problem):
    session, event = say(THREE, states_problem, "foo")
    assert isinstance(event, Unread)
    assert session == THREE


@pytest.mark.parametrize("typed", ["h", "hint", " HINT "])
def test_hints_come_one_at_a_time_and_are_counted(states_problem, typed):
    session, event = say(THREE, states_problem, typed, typed)
    assert event == Hint(text="12/8", number=2, of=3)
    session, event = say(session, states_problem, "25.27 GB")
    assert event.attempt.hints == 2
    assert session.hints == 0


def test_after_the_last_hint_there_is_none(states_problem):
    session, event = say(THREE, states_problem, *["hint"] * 4)
    assert event == NoHint()
    assert session.hints == 3


@pytest.mark.parametrize(
    ("typed", "mark"), [("skip", "skipped"), ("w", "shown"), ("why", "shown")]
)
def test_passing_a_question_over_earns_nothing(states_problem, typed, mark):
    session, event = say(THREE, states_problem, typed)
    assert (event.attempt.verdict.verdict, event.attempt.verdict.score) == (mark, 0)
    assert session.position == 1


@pytest.mark.parametrize(
    ("typed", "event"),
    [
        ("?", Help()),
        ("help", Help()),
        ("", Blank()),
        ("  ", Blank()),
        ("q", Quit()),
        ("u", NothingToUndo()),
    ],
)
def test_other_words_leave_the_state_as_it_is(states_problem, typed, event):
    assert say(THREE, states_problem, typed) == (THREE, event)


def test_undo_asks_the_last_question_again_with_its_hints(states_problem):
    session, _ = say(THREE, states_problem, "hint", "37 GB")
    session, event = say(session, states_problem, "undo")
    assert isinstance(event, Undone)
    assert event.attempt.verdict.answer == "37 GB"
    assert (session.position, session.hints) == (0, 1)


def test_undo_works_between_questions_too(states_problem):
    session, _ = say(THREE, states_problem, "37 GB")
    assert undo(session)[0].position == 0


@pytest.mark.parametrize("typed", ["w", "why", "W"])
def test_an_answer_stands_where_the_solution_was_asked_for_instead(states_problem, typed):
    session, _ = say(THREE, states_problem, typed)
    assert say(session, states_problem, "undo") == (session, Stands())


def test_an_answer_stands_once_its_solution_was_seen(states_problem):
    session = seen(say(THREE, states_problem, "37 GB")[0])
    assert undo(session) == (session, Stands())


def test_the_answer_behind_a_solution_can_be_taken_back(states_problem):
    session, _ = say(THREE, states_problem, "w", "37 GB", "undo")
    assert session.position == 1
    assert undo(session) == (session, Stands())


@pytest.mark.parametrize("key", ["h", "s", "w", "u", "q"])
@pytest.mark.parametrize("problem", ["states_problem", "fits_problem"])
def test_a_capital_letter_acts_like_the_small_one(request, problem, key):
    problem = request.getfixturevalue(problem)
    session, _ = say(THREE, problem, "skip")
    assert say(session, problem, key) == say(session, problem, key.upper())


@pytest.mark.parametrize("typed", ["s", "S"])
def test_a_key_that_is_a_symbol_of_the_question_is_no_command(states_problem, typed):
    # The problem's symbols are P and s.
    session, event = say(THREE, states_problem, typed)
    assert event == Clash(key="s", word="skip", instead="1*s")
    assert session == THREE


@pytest.mark.parametrize(
    ("kind", "typed", "clash"),
    [
        ("cache-formula", "s", Clash(key="s", word="skip", instead="1*s")),
        ("parameters-formula", "H", Clash(key="h", word="hint", instead="1*h")),
        ("peak-ledger", "s", Clash(key="s", word="skip", instead="1*s")),
    ],
)
def test_a_letter_of_a_formula_or_a_ledger_is_no_command(kind, typed, clash):
    assert say(THREE, build(kind, 11), typed) == (THREE, clash)


@pytest.mark.parametrize("typed", ["s", "hint"])
def test_a_key_that_is_no_letter_of_the_formula_is_a_command(typed):
    # Its letters are P and N.
    assert not isinstance(say(THREE, build("states-formula", 5), typed)[1], Clash)


def test_the_letter_of_something_to_pick_is_no_command(make_problem):
    items = [
        RankedItem(key=key, name=f"lever {key}", value=Fraction(at)) for at, key in enumerate("gh")
    ]
    first, last = items
    choices = (
        Choice(item=first, feedback="It does."),
        Choice(item=last, mistake="m", feedback="No."),
    )
    problem = make_problem(ChoiceAnswer(choices=choices))
    assert say(THREE, problem, "h")[1] == Clash(key="h", word="hint", instead="lever h")


def test_a_keys_word_works_where_the_key_is_a_symbol(states_problem):
    assert isinstance(say(THREE, states_problem, "skip")[1], Marked)


def test_a_verdict_alone_is_asked_for_its_number(fits_problem):
    session, event = say(THREE, fits_problem, "no")
    assert isinstance(event, WantsRest)
    session, event = say(session, fits_problem, "93 GB")
    assert event.attempt.verdict.score == 1
    assert session.pending == ""


def test_enter_leaves_the_number_out(fits_problem):
    _, event = say(THREE, fits_problem, "no", "")
    assert event.attempt.verdict.score == Fraction(1, 2)


PASSES = [
    "",
    "no",
    "No.",
    "nope",
    "none",
    "idk",
    "n/a",
    "I don\N{RIGHT SINGLE QUOTATION MARK}t know",
]


@pytest.mark.parametrize("typed", [*PASSES, "skip", "s", "w"])
@pytest.mark.parametrize(("first", "score"), [("no", "1/2"), ("yes", 0)])
def test_a_word_that_leaves_the_number_out_leaves_the_verdict_as_it_was(
    fits_problem, first, score, typed
):
    _, event = say(THREE, fits_problem, first, typed)
    verdict = event.attempt.verdict
    parsed = {"yes": first == "yes", "number": None}
    assert (verdict.answer, verdict.parsed, verdict.score) == (first, parsed, Fraction(score))
    assert verdict.reading == f"{first}, without a number"


@pytest.mark.parametrize(
    ("first", "typed"),
    [("yes", "no, 93 GB"), ("yes", "93 GB so no"), ("no", "yes"), ("no", "fits")],
)
def test_the_other_verdict_behind_a_verdict_is_not_counted(fits_problem, first, typed):
    session, event = say(THREE, fits_problem, first, typed)
    assert f"your {first} stands" in event.why.reason
    assert session.pending == first


def test_the_same_verdict_again_is_asked_for_its_number(fits_problem):
    session, event = say(THREE, fits_problem, "no", "oom")
    assert "type its number" in event.why.reason
    assert say(session, fits_problem, "no, 93 GB")[1].attempt.verdict.score == 1


def test_a_verdict_that_waits_for_its_number_can_be_taken_back(fits_problem):
    before, _ = say(THREE, fits_problem, "no, 93 GB")
    session, event = say(before, fits_problem, "yes", "undo")
    assert (session, event) == (before, Withdrawn(says="Taken back: answer yes or no again."))


def test_a_solution_in_the_numbers_place_fixes_the_verdict(fits_problem):
    session, _ = say(THREE, fits_problem, "yes", "w")
    assert undo(session) == (session, Stands())


def test_an_unreadable_number_behind_a_verdict_is_asked_again(fits_problem):
    session, event = say(THREE, fits_problem, "no", "93 foos")
    assert isinstance(event, Unread)
    assert (event.typed, event.why.offset) == ("93 foos", 3)
    assert say(session, fits_problem, "93 GB")[1].attempt.verdict.score == 1


def test_without_a_dialogue_a_verdict_alone_is_marked_at_once(fits_problem):
    _, event = say(THREE, fits_problem, "no", ask_again=False)
    assert event.attempt.verdict.score == Fraction(1, 2)


def test_the_summary_adds_up_scores_topics_and_mistakes(states_problem):
    session, _ = say(THREE, states_problem, "25.27 GB", "37 GB", "37 GB")
    result = summary(session)
    assert (result.answered, result.score) == (3, 1)
    assert result.topics == (("A", 3, Fraction(1)),)
    assert result.mistakes == (("gradients left whole", 2),)
    assert result.weakest == "A"


def test_where_nothing_was_lost_no_topic_is_the_weakest(states_problem):
    session, _ = say(THREE, states_problem, "25.27 GB")
    assert summary(session).weakest is None


def test_a_set_without_answers_has_a_summary():
    assert summary(THREE).answered == 0


@pytest.mark.parametrize("typed", ["s", "w"])
def test_what_was_not_answered_has_no_mark_of_ones_own(claim_problem, typed):
    session, _ = say(THREE, claim_problem, typed)
    assert overrule(session, claim_problem, "o correct") == (session, CannotOverrule())


def test_a_mark_of_ones_own_is_no_answer(claim_problem):
    session, event = say(THREE, claim_problem, "o correct")
    assert isinstance(event, Unread)
    assert session == THREE


def test_the_closing_lines_tell_of_marks_of_ones_own(claim_problem):
    session, _ = say(THREE, claim_problem, "true", "false")
    session, _ = overrule(session, claim_problem, "o correct")
    assert summary(session).own == 1
    assert closing(session, "stopped").splitlines()[1] == "Score so far 1 of 2, 1 by your own mark"


def test_the_closing_lines_show_what_was_only_begun():
    begun = "Its answer was only begun and is not kept: 14; 14"
    assert closing(replace(THREE, pending="14; 14"), "interrupted").splitlines()[1] == begun
    assert "begun" not in closing(THREE, "interrupted")


def test_hints_cost_nothing_whatever_is_asked_for():
    asked = {type(problem.answer): problem for kind in kinds() for problem in [build(kind, 1)]}
    assert {*asked} == {*markers()}
    for problem in asked.values():
        right = problem.answer.said
        if isinstance(problem.answer, ClaimAnswer):
            right = f"{'true' if problem.answer.truth else 'false'}. {problem.answer.core}"
        _, event = say(Session(problems=(problem.id,)), problem, "hint", "hint", "hint", right)
        assert (event.attempt.hints, event.attempt.score) == (3, 1), problem.id
