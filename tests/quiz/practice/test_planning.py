"""A set that adapts: wrong answers come back, and what is due comes first."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from quiz.history.database import FILE
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Verdict, mark_of
from quiz.practice.planning import RETURNS, coming, planned, promised
from quiz.practice.session import Session, undo
from quiz.schedule.concepts import Concept

HEAD = re.compile(r"^ (\d+)/(\d+) · .* · (\S+)@\d+", re.MULTILINE)


def attempt(problem, score, **changes):
    verdict = Verdict(
        problem=problem,
        answer="1",
        score=Fraction(score),
        verdict=mark_of(Fraction(score)),
        feedback=".",
        mistake=changes.pop("mistake", None),
    )
    return Attempt(topic="A", verdict=verdict, hints=0, seconds=1.0, **changes)


class Alphabet:
    """A planner whose new questions are of the kinds a, b, c, …"""

    def __init__(self, count):
        self._count = count

    def promised(self, session):
        return coming(session).whole(self._count)

    def chosen(self, session):
        left = coming(session)
        returning = left.returning(self._count)
        return f"{returning.kind if returning else 'abcdefgh'[left.new]}@{left.planned}"


def gone_through(scores, count):
    """The kinds asked and the lengths promised where the answers earn `scores`, then all."""
    planner = Alphabet(count)
    session, lengths = promised(Session(problems=()), planner), []
    while not session.finished:
        lengths.append(session.whole)
        session = planned(session, planner)
        score = scores[session.position] if session.position < len(scores) else 1
        given = attempt(session.problems[session.position], score)
        session = promised(replace(session, attempts=(*session.attempts, given)), planner)
    return "".join(problem[0] for problem in session.problems), lengths


@pytest.mark.parametrize(
    ("scores", "count", "asked"),
    [
        ((), 4, "abcd"),
        ((0,), 4, "abcad"),
        ((1, 1, 1, 0), 4, "abcdd"),
        ((0, 0), 4, "abcabd"),
        ((0, 1, 1, 0), 4, "abcada"),
        ((0,) * 20, 2, "ababab"),
        ((Fraction(1, 2),), 3, "abc"),
    ],
)
def test_what_was_wrong_comes_back_after_two_others_or_at_the_end(scores, count, asked):
    assert gone_through(scores, count)[0] == asked


def test_no_kind_comes_back_for_ever():
    asked, lengths = gone_through((0,) * 99, 5)
    assert {asked.count(kind) for kind in "abcde"} == {1 + RETURNS}
    assert lengths[-1] == len(asked)


def test_the_length_that_is_told_grows_with_each_return_alone():
    _, lengths = gone_through((0, 1, 0), 4)
    assert lengths == [4, 5, 5, 6, 6, 6]


def test_a_named_mistake_comes_back_with_its_name_unless_the_learner_says_otherwise():
    given = attempt("zero-states@3", 0, mistake="weights only")
    session = Session(problems=("zero-states@3",), attempts=(given,), promised=9)
    concept = Concept(kind="zero-states", mistake="weights only")
    assert coming(session).back == ((concept, 3),)
    right = replace(session, attempts=(replace(given, own="correct"),))
    assert coming(right).back == ()


def test_a_wrong_answer_that_is_taken_back_takes_its_return_along():
    problems = ("a@0", "b@1", "c@2", "a@3")
    answers = tuple(attempt(problem, 0 if problem == "a@0" else 1) for problem in problems[:3])
    session = Session(problems=problems, attempts=answers, promised=5)
    for _ in range(3):
        session, _ = undo(session)
    assert session.problems == ("a@0",)
    assert promised(session, Alphabet(4)).whole == 4


def test_a_set_whose_questions_are_fixed_keeps_them():
    session = Session(problems=("a@0", "b@1"), attempts=(attempt("a@0", 0),))
    assert planned(session, None) == promised(session, None) == session
    assert undo(session)[0].problems == session.problems


def heads(page):
    return [(int(place), int(of), kind) for place, of, kind in HEAD.findall(page)]


def test_in_a_set_without_a_seed_wrong_ones_come_back_with_other_numbers(memquiz, data):
    done = memquiz("practice", "--count", "3", "--topic", "A", typed="skip\n" * 20)
    assert done.returncode == 0
    asked = heads(done.stdout)
    assert [place for place, _, _ in asked] == list(range(1, 10))
    assert [of for _, of, _ in asked] == [3, 4, 5, 6, 7, 8, 9, 9, 9]
    assert {kind for _, _, kind in asked[:3]} == {kind for _, _, kind in asked[3:]}
    with closing(sqlite3.connect(data / FILE)) as connection:
        kept = [row[0] for row in connection.execute("SELECT problem FROM attempts")]
    assert len(set(kept)) == 9


@pytest.mark.parametrize("fixed", [("--seed", "7"), ("--no-save",)])
def test_a_set_that_is_fixed_has_its_length(memquiz, fixed):
    done = memquiz("practice", "--count", "3", "--topic", "A", *fixed, typed="skip\n" * 20)
    assert [of for _, of, _ in heads(done.stdout)] == [3, 3, 3]


def test_a_set_that_adapts_goes_on_with_the_question_it_had_asked(memquiz):
    left = heads(memquiz("practice", "--count", "3", typed="skip\n").stdout)
    back = memquiz("practice", typed="skip\n" * 20)
    assert "Going on: 1 of 4 answered." in back.stdout
    assert heads(back.stdout)[0] == left[1]
    assert "Score 0 of 9" in back.stdout
    assert "Going on" not in memquiz("practice").stdout


def days_ago(data, days):
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute(
            "UPDATE attempts SET answered = strftime('%Y-%m-%dT%H:%M:%S+00:00', answered, ?)",
            (f"-{days} days",),
        )


def test_what_is_due_is_asked_and_nothing_else(memquiz, data):
    nothing = memquiz("practice", "--due")
    assert nothing.stdout.startswith("Nothing is due: what is answered comes back in days.")
    memquiz("practice", "--problem", "zero-states@3", "--problem", "peak@3", typed="1 B\n1 B\n")
    early = memquiz("practice", "--due")
    assert early.stdout.startswith("Nothing is due; the next is within a day.")
    assert (nothing.returncode, early.returncode) == (0, 0)
    days_ago(data, 2)
    asked = memquiz("practice", "--due", typed="w\n")
    assert {kind for _, of, kind in heads(asked.stdout)[:2]} == {"zero-states", "peak"}
    assert {of for _, of, _ in heads(asked.stdout)[:1]} == {2}
    limited = memquiz("practice", "--due", "--new", "--count", "1", typed="w\nw\nw\n")
    assert next(of for _, of, _ in heads(limited.stdout)) == 1
    elsewhere = memquiz("practice", "--due", "--new", "--topic", "B")
    assert elsewhere.stdout.startswith("Nothing is due: ")


def test_an_answer_that_was_taken_back_is_not_due(memquiz, data):
    options = ("--problem", "zero-states@3", "--problem", "peak@3")
    memquiz("practice", *options, typed="1 B\nu\nq\n")
    days_ago(data, 9)
    assert memquiz("practice", "--due", "--new").stdout.startswith("Nothing is due: ")


def test_without_asking_for_it_what_is_due_comes_first(memquiz, data):
    memquiz("practice", "--problem", "kv-total@3", typed="1 B\n")
    days_ago(data, 3)
    assert heads(memquiz("practice", "--count", "2").stdout)[0] == (1, 2, "kv-total")


def test_the_end_of_a_set_says_what_is_due(memquiz, data):
    memquiz("practice", "--problem", "kv-total@3", typed="1 B\n")
    days_ago(data, 3)
    done = memquiz("practice", "--problem", "zero-states@3", typed="1 B\n")
    assert "Due now, 1 kind of question: memquiz practice --due" in done.stdout


@pytest.mark.parametrize("other", [("--no-save",), ("--seed", "3"), ("--problem", "peak@3")])
def test_due_stands_beside_nothing_that_leaves_the_answers_out(memquiz, other):
    done = memquiz("practice", "--due", *other)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--due" in done.stderr
