"""The learner at a terminal or behind a pipe: lines in, questions and verdicts out."""

from collections.abc import Mapping
from textwrap import indent
from typing import TextIO, final

from rich.console import Console

from problems.problem import TOPICS, Problem
from quiz.answers import caret
from quiz.marking.attempt import Attempt
from quiz.marking.registry import marker_of, request_of
from quiz.marking.verdict import Mark
from quiz.output.screen import paragraph, whole_lines
from quiz.output.typing_in import Lines
from quiz.practice.events import (
    Blank,
    CannotOverrule,
    Clash,
    Event,
    Help,
    Hint,
    Marked,
    NoHint,
    NotACommand,
    NothingToUndo,
    Overruled,
    Stands,
    Undone,
    Unread,
    WantsMark,
    WantsRest,
    Withdrawn,
)
from quiz.practice.session import Session

BAR = 20
# Shorter ones say nothing.
SHORTEST_BAR = 5
STEP = 3
COLOURS: Mapping[Mark, str] = {
    "correct": "green",
    "partial": "yellow",
    "wrong": "red",
    "skipped": "",
    "shown": "",
}
HELP = """\
Type a number with its unit: 37 GB, 34.5 GiB, 12-14 GB, 6.7e9 * 16 bytes.
GB is 10^9 bytes, GiB is 2^30.
Where an order is asked: 2 > 1 = 3, or names; = is a tie.
Where several numbers are asked: 14, 14, 84 = 112, or each behind its name.
Where steps are shown: the first that is not right, and its right number: 3, 28 GB.
Where a claim is put: true or false, and why, in your own words.
h hint   s skip   w worked solution; the question then counts as 0
u take the last answer back, unless its solution was asked for
o behind the verdict on a claim: your own mark, as in o partial
q stop, to go on another day   ? this help
The words work too: hint, skip, why, undo, quit; capital letters do.
Behind the level stands the question's id, to have it again:
memquiz practice --problem zero-states@7"""
PAUSE = "enter next · w why · u undo · q stop"
PAUSE_OWN_MARK = "enter next · w why · o your own mark · u undo · q stop"
DIM: Mapping[type, str] = {
    Blank: "Type an answer, or ? for the commands.",
    Undone: "Taken back.",
}
SAID: Mapping[type, str] = {
    NoHint: "There is no further hint; w shows the worked solution.",
    Help: HELP,
    WantsMark: "Which mark? Type o correct, o partial or o wrong.",
    CannotOverrule: "Only an answer to a claim can have a mark of your own.",
    NothingToUndo: "There is no answer to take back.",
    Stands: "That answer stands: its solution was asked for, or it is of another sitting.",
    NotACommand: "Nothing is asked here; Enter goes on to the next question.",
}


@final
class Terminal:
    """A learner who reads a console and types lines.

    Args:
        console: where everything is shown.
        lines: where lines come from.
    """

    def __init__(self, console: Console, lines: TextIO) -> None:
        self._console = console
        self._lines = Lines(console, lines)

    @property
    def interactive(self) -> bool:
        """Whether a person sees each line before typing the next."""
        return self._lines.interactive

    def read(self) -> str | None:
        """Return the next line; None at the end of input.

        Raises:
            InputError: standard input cannot be read.
        """
        return self._lines.read()

    def ask(self, session: Session, problem: Problem) -> None:
        """Show the question under a line that says where in the set it stands."""
        done, whole = session.position, len(session.problems)
        left = f"{done + 1}/{whole} · {TOPICS[problem.topic]} · {problem.level} · {problem.id}"
        room = self._console.width - len(left) - 3
        size = min(whole, BAR, room)
        if size >= min(whole, SHORTEST_BAR):
            full = size * (done + 1) // whole
            left = f"{left}{' ' * (room - size + 2)}{'■' * full}{'□' * (size - full)}"
        self._console.print()
        self._say(left, style="bold")
        self._say(problem.prompt)
        whole_lines(self._console, indent(problem.exhibit, " " * STEP))
        request = request_of(problem.answer)
        if request is not None:
            for line in request.items:
                paragraph(self._console, line, indent=STEP, hanging=STEP)
            self._say(request.wants)

    def tell(self, event: Event, problem: Problem) -> None:
        """Show what a line led to."""
        match event:
            case Marked(attempt=attempt):
                self._verdict(attempt, problem)
            case Unread(typed=typed, why=why):
                self._point(*caret(typed, why).splitlines())
                self._say(f"Not counted: {why.reason}.")
            case Hint(text=text, number=number, of=of):
                self._say(f"hint {number}/{of}: {text}")
            case Overruled(attempt=attempt):
                self._say(f"Your own mark, {attempt.own}, counts now.", style="dim")
            case WantsRest(says=says):
                self._say(says)
            case Withdrawn(says=says):
                self._say(says, style="dim")
            case _:
                self._aside(event)

    def _aside(self, event: Event) -> None:
        if isinstance(event, Clash):
            self._say(
                f"{event.key} is a symbol here; type {event.word} for the command, "
                f"{event.instead} for it."
            )
        elif type(event) in DIM:
            self._say(DIM[type(event)], style="dim")
        elif type(event) in SAID:
            self._say(SAID[type(event)])

    def pause(self, problem: Problem) -> None:
        """Show what can be typed behind the verdict on `problem`."""
        own_mark = marker_of(problem.answer).own_mark
        self._say(PAUSE_OWN_MARK if own_mark else PAUSE, style="dim")

    def explain(self, problem: Problem) -> None:
        """Show the whole worked solution."""
        self._on_paper(problem)
        self._ledger_lines(problem)

    def _verdict(self, attempt: Attempt, problem: Problem) -> None:
        verdict = attempt.verdict
        if verdict.reading:
            self._say(f"read as {verdict.reading}", style="dim")
        for remark in verdict.remarks:
            self._say(f"({remark})", style="dim")
        self._say(verdict.feedback, style=COLOURS[verdict.verdict])
        if verdict.verdict in {"partial", "wrong", "shown"}:
            self._ledger_lines(problem)
        if not marker_of(problem.answer).gives_reason:
            self._on_paper(problem)

    def _on_paper(self, problem: Problem) -> None:
        steps = [step.text for step in problem.solution if step.depth == "whiteboard"]
        if len(steps) == 1:
            paragraph(self._console, f"on paper: {steps[0]}", indent=1, hanging=STEP - 1)
        elif steps:
            self._say("on paper:")
            for step in steps:
                self._step(step)

    def _ledger_lines(self, problem: Problem) -> None:
        for step in problem.solution:
            if step.depth == "exact":
                self._step(step.text)

    def _step(self, text: str) -> None:
        paragraph(self._console, text, indent=STEP, hanging=2)

    def _point(self, line: str, mark: str) -> None:
        """Show a line with the mark below it, as much of it as there is room for."""
        room = self._console.width - 2
        start = max(0, min(len(mark) - room * 2 // 3, len(line) - room))
        for text in (line, mark):
            whole_lines(self._console, " " + text[start : start + room])

    def _say(self, text: str, *, style: str = "") -> None:
        paragraph(self._console, text, style=style, indent=1)
