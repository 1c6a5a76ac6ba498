"""A typed order marked, shown, and kept."""

import io
import itertools
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from rich.console import Console

from problems.answers.ranking import Measure, RankedItem, RankingAnswer
from quiz.grading import Unreadable, grade, skipped
from quiz.history.store import Store
from quiz.marking.registry import request_of
from quiz.practice.dialogue import Dialogue
from quiz.practice.events import Marked, Quit, Unread
from quiz.practice.session import Session, respond
from quiz.practice.sitting import Unkept
from quiz.practice.terminal import Terminal

STEP_TIME = Measure(verb="costs", unit="%", of="step time", signed=True)
RIGHT = "fused attention > ZeRO-1 = ZeRO-2 > full recompute"


def ranked(order, measure, first, *rows):
    items = tuple(
        RankedItem(key=str(key), name=name, aliases=tuple(aliases), value=Fraction(value))
        for key, (name, value, *aliases) in enumerate(rows, 1)
    )
    return RankingAnswer(
        items=items, order=tuple(map(tuple, order.split())), measure=measure, first=first
    )


@pytest.fixture
def levers(make_problem):
    """Fused attention −2%, ZeRO-1 3.1% and ZeRO-2 3.2% tied, full recompute 33%."""
    answer = ranked(
        "2 34 1",
        STEP_TIME,
        "cheapest",
        ("full recompute", 33, "ckpt"),
        ("fused attention", -2, "fa"),
        ("ZeRO-1", "3.1", "z1"),
        ("ZeRO-2", "3.2", "z2"),
    )
    return make_problem(answer)


@pytest.fixture
def savings(make_problem):
    answer = ranked(
        "3 2 1",
        Measure(verb="saves", unit="bytes"),
        "largest saving",
        ("ZeRO-1", 5_000_000_000),
        ("ZeRO-2", 5_004_000_000),
        ("ZeRO-3", 12_400_000_000),
    )
    return make_problem(answer)


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


@pytest.mark.parametrize(
    ("typed", "score", "mark"),
    [
        ("fa > z1 = z2 > ckpt", 1, "correct"),
        ("fa, z1, z2, ckpt", 1, "correct"),
        ("2 4 3 1", 1, "correct"),
        ("fa, z1, ckpt, z2", "4/5", "partial"),
        ("z1 > fa > z2 > ckpt", "4/5", "partial"),
        ("fa = z1 = z2 > ckpt", "4/5", "partial"),
        ("fa > z1 > ckpt", "3/5", "partial"),
        ("fa > ckpt", "1/5", "partial"),
        ("fa = z1 = z2 = ckpt", "1/2", "partial"),
        ("ckpt > z1 > z2 > fa", 0, "wrong"),
        ("ckpt > fa", 0, "wrong"),
    ],
)
def test_the_score_is_the_share_of_the_pairs(levers, typed, score, mark):
    verdict = marked(levers, typed)
    assert (verdict.score, verdict.verdict) == (Fraction(score), mark)


def test_a_right_order_is_one_line(levers):
    assert marked(levers, "fa z1 z2 ckpt").feedback == f"Right: {RIGHT}."


def test_the_two_worst_inversions_are_explained_by_their_numbers(levers):
    assert marked(levers, "ckpt > fa > z1 > z2").feedback == (
        f"In part: {RIGHT}. 2 of 5 pairs are in order. "
        "Full recompute before fused attention: it costs +33% step time, fused attention −2%. "
        "Full recompute before ZeRO-1: it costs +33% step time, ZeRO-1 +3.1%."
    )


def test_a_tie_is_explained_where_fewer_than_two_pairs_are_inverted(levers):
    feedback = marked(levers, "z1 > fa = z2 > ckpt").feedback
    assert feedback.endswith(
        "3.5 of 5 pairs are in order. "
        "ZeRO-1 before fused attention: it costs +3.1% step time, fused attention −2%. "
        "ZeRO-2 level with fused attention: it costs +3.2% step time, fused attention −2%."
    )


def test_what_was_left_out_is_named(levers):
    feedback = marked(levers, "fa > z1").feedback
    assert feedback.endswith("Left out, and so lost: full recompute and ZeRO-2.")


def test_three_that_were_left_out_are_listed(make_problem):
    rows = [(name, value) for value, name in enumerate("ABCDE")]
    problem = make_problem(ranked("1 2 3 4 5", STEP_TIME, "cheapest", *rows))
    assert marked(problem, "1 > 2").feedback.endswith("Left out, and so lost: C, D and E.")


@pytest.mark.parametrize("keys", ["abcd", "1234"])
def test_an_order_is_asked_for_by_the_kind_of_its_keys(levers, keys):
    items = tuple(
        replace(item, key=key) for item, key in zip(levers.answer.items, keys, strict=True)
    )
    order = tuple(tuple(keys[int(key) - 1] for key in group) for group in levers.answer.order)
    request = request_of(replace(levers.answer, items=items, order=order))
    noun = "letters" if keys == "abcd" else "numbers"
    wants = f"Type their {noun} or names, the cheapest first; = between two that tie."
    assert request.wants == wants
    assert request.items[0] == f"{keys[0]}  full recompute"


@pytest.mark.parametrize("typed", ["ckpt > z1 = z2 > fa", "1 3 4 2"])
def test_the_order_upside_down_is_a_mistake_with_a_name(levers, typed):
    verdict = marked(levers, typed)
    assert verdict.mistake == "upside down"
    assert verdict.feedback == (
        f"Not quite: {RIGHT}. This is the order upside down: the cheapest comes first."
    )


@pytest.mark.parametrize(
    "typed", ["ckpt > fa", "ckpt > z1 > fa", "fa z1 z2 ckpt", "z1 fa ckpt z2"]
)
def test_another_order_has_no_name(levers, typed):
    assert marked(levers, typed).mistake is None


def test_two_groups_the_wrong_way_round_are_explained_and_not_called_upside_down(make_problem):
    rows = (("DDP", 1), ("FSDP", 2))
    verdict = marked(make_problem(ranked("1 2", STEP_TIME, "cheapest", *rows)), "2 1")
    assert verdict.mistake is None
    assert verdict.feedback.endswith("FSDP before DDP: it costs +2% step time, DDP +1%.")


def test_a_size_is_said_in_its_unit_with_digits_enough_to_tell_two_apart(savings):
    feedback = marked(savings, "3 > 1 > 2").feedback
    assert feedback.endswith("ZeRO-1 before ZeRO-2: it saves 5.000 GB, ZeRO-2 5.004 GB.")


def test_a_size_has_two_decimals_where_they_tell_it_from_another(savings):
    feedback = marked(savings, "1 > 3 > 2").feedback
    assert "ZeRO-1 before ZeRO-3: it saves 5.00 GB, ZeRO-3 12.40 GB." in feedback


@pytest.mark.parametrize(
    ("values", "measure", "says"),
    [
        ((1, 2), Measure(verb="takes", unit="ms"), "it takes 2 ms, A 1 ms."),
        ((0, 2), STEP_TIME, "it costs +2% step time, A 0%."),
        ((-5, "-1/2"), STEP_TIME, "it costs −0.5% step time, A −5%."),
        (("1/100000", 2), STEP_TIME, "it costs +2% step time, A almost 0%."),
        ((123456, 234567), Measure(verb="takes", unit="ms"), "it takes 235,000 ms, A 123,000 ms."),
        (("3.1401", "3.1402"), STEP_TIME, "it costs +3.1402% step time, A +3.1401%."),
        # Six digits at most.
        (("3.14012001", "3.14012002"), STEP_TIME, "it costs +3.14012% step time, A +3.14012%."),
        (("1/1000", 2), STEP_TIME, "it costs +2% step time, A +0.001%."),
        (("1/2", "3/4"), STEP_TIME, "it costs +0.75% step time, A +0.5%."),
    ],
)
def test_a_number_is_said_with_its_sign_and_unit(make_problem, values, measure, says):
    rows = [(name, value) for name, value in zip("AB", values, strict=True)]
    verdict = marked(make_problem(ranked("1 2", measure, "cheapest", *rows)), "2 1")
    assert verdict.feedback.endswith(says)


def test_the_reading_is_shown_by_name(levers):
    verdict = marked(levers, "fa, z1 > 4 = ckpt")
    assert verdict.reading == "fused attention > ZeRO-1 > ZeRO-2 = full recompute"
    assert verdict.remarks == ("read the comma as an order too; type = for a tie",)


def test_a_verdict_on_an_order_as_json_has_the_stable_keys(levers):
    verdict = marked(levers, "fa > z1=z2 > ckpt").as_json
    assert json.loads(json.dumps(verdict)) == {
        "problem": "made@7",
        "answer": "fa > z1=z2 > ckpt",
        "parsed": [["2"], ["3", "4"], ["1"]],
        "score": 1.0,
        "verdict": "correct",
        "mistake": None,
        "feedback": f"Right: {RIGHT}.",
    }


def test_a_long_order_is_not_too_long(levers):
    typed = "fused attention and then ZeRO-1 and then ZeRO-2 and then full recompute"
    assert marked(levers, typed + " " * 200).score == 1


@pytest.mark.parametrize("typed", ["", "fa", "?!", "fa > foo", "9" * 10_000, "\x1b[2J", "fa < z1"])
def test_what_is_no_order_is_a_value(levers, typed):
    found = grade(levers, typed)
    assert isinstance(found, Unreadable)
    assert 0 <= found.offset <= len(typed)


def test_a_question_passed_over_tells_the_order(levers):
    assert skipped(levers, shown=True).feedback == f"The answer: {RIGHT}."


def test_an_order_comes_back_as_it_was_kept(levers, data):
    session, event = respond(
        Session(problems=("made@7", "made@8")), levers, "fa = z1 > ckpt", seconds=1, ask_again=True
    )
    with Store(data) as store:
        store.record(store.start({}, session.problems), 0, event.attempt)
        (back,) = store.unfinished({}).attempts
    assert back.verdict.parsed == (("2", "3"), ("1",))
    assert back.verdict.as_json == event.attempt.verdict.as_json


@pytest.mark.parametrize(("typed", "event"), [("fa foo", Unread), ("q", Quit), ("2431", Marked)])
def test_a_line_is_an_order_or_a_command(levers, typed, event):
    session = Session(problems=("made@7",))
    assert isinstance(respond(session, levers, typed, seconds=1, ask_again=True)[1], event)


def test_a_letter_of_an_order_is_no_command_in_a_longer_line(levers):
    items = tuple(
        replace(item, key=key) for item, key in zip(levers.answer.items, "hqsu", strict=True)
    )
    answer = replace(levers.answer, items=items, order=(("q",), ("s", "u"), ("h",)))
    problem = replace(levers, answer=answer)
    _, event = respond(
        Session(problems=("made@7",)), problem, "q s u h", seconds=1, ask_again=True
    )
    assert event.attempt.verdict.score == 1


def page(problem, *lines, width=80):
    """What a learner behind a pipe sees who types these lines."""
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    seconds = itertools.count()
    dialogue = Dialogue(
        Session(problems=("made@7",)),
        learner=Terminal(console, io.StringIO("".join(f"{line}\n" for line in lines))),
        journal=Unkept(),
        build=lambda _id: problem,
        clock=lambda: next(seconds),
    )
    dialogue.run()
    return console.file.getvalue()


def test_the_items_stand_numbered_below_the_question(levers):
    assert page(levers).splitlines()[2:] == [
        " How much does it take?",
        "   1  full recompute",
        "   2  fused attention",
        "   3  ZeRO-1",
        "   4  ZeRO-2",
        " Type their numbers or names, the cheapest first; = between two that tie.",
    ]


def test_a_long_name_goes_on_below_itself(make_problem):
    rows = (("smaller micro-batch with gradient accumulation", 1), ("DDP", 2))
    problem = make_problem(ranked("1 2", STEP_TIME, "cheapest", *rows))
    assert "   1  smaller micro-batch with\n      gradient" in page(problem, width=30)


def test_an_order_is_marked_in_practice(levers):
    shown = page(levers, "fa > flsh", "fa, z1 > z2 > ckpt")
    assert "      ^\n Not counted: this is none of the items; type the numbers 1 to 4" in shown
    assert " read as fused attention > ZeRO-1 > ZeRO-2 > full recompute\n" in shown
    assert " (read the comma as an order too; type = for a tie)\n" in shown
    assert f" Right: {RIGHT}." in shown
