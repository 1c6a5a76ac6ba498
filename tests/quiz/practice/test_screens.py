"""What practice shows of every kind of question, in several widths and in plain text."""

import io
from dataclasses import replace
from functools import cache

import pytest
from rich.console import Console

from problems.registry import build, kinds
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.marking.registry import forms_of
from quiz.output.screen import Screen
from quiz.practice.session import Session, respond
from quiz.practice.terminal import Terminal

built = cache(build)


def shown(console, problem):
    """Show the question, a line that cannot be read, what could be, and both verdicts."""
    front = Terminal(console, io.StringIO())
    session = Session(problems=(problem.id,) * 10)
    front.ask(session, problem)
    typed = ("?", "r", "r §§§" * 30, forms_of(problem.answer)[0])
    for line in typed:
        _, event = respond(session, problem, line, seconds=1, ask_again=False)
        front.tell(event, problem)
    session, event = respond(session, problem, "why", seconds=1, ask_again=False)
    front.tell(event, problem)
    front.pause(session, problem)
    front.explain(problem)


@pytest.mark.parametrize("kind", kinds())
def test_every_line_fits_the_terminal(kind):
    problem = replace(built(kind, 1), exhibit="")  # which stands as it is
    for width in (80, 40):
        file = io.StringIO()
        shown(Console(file=file, width=width, highlight=False), problem)
        wide = [line for line in file.getvalue().splitlines() if len(line) > width]
        assert wide == []


@pytest.mark.parametrize("kind", kinds())
def test_plain_text_is_ascii_and_has_a_thing_a_line(kind, capsys):
    shown(Screen(plain=True), built(kind, 1))
    lines = capsys.readouterr().out.split("\n")
    assert all(line.isascii() and line == line.strip() for line in lines)
    assert all(any(map(str.isalnum, line)) for line in lines if line)
    assert "question 1 of 10" in lines


@pytest.mark.parametrize("kind", kinds())
def test_every_form_that_a_question_names_is_read(kind):
    problem = built(kind, 1)
    forms = forms_of(problem.answer)
    assert forms
    for form in forms:
        assert not isinstance(grade(problem, form), Unreadable), form


def test_things_to_pick_stand_behind_their_keys_in_plain_text(capsys):
    shown(Screen(plain=True), built("rank-levers", 1))
    first = built("rank-levers", 1).answer.items[0]
    assert f"{first.key}: {first.name}" in capsys.readouterr().out.split("\n")
