"""The learner at a terminal or behind a pipe: lines in, questions and verdicts out."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TextIO, assert_never, final

from rich.console import Console
from rich.text import Text

from problems.problem import TOPICS, Problem
from quiz.answers import caret
from quiz.practice import (
    Blank,
    Clash,
    Event,
    Given,
    Help,
    Hint,
    Marked,
    NoHint,
    NothingToUndo,
    Quit,
    Session,
    Undone,
    Unread,
    WantsNumber,
)
from quiz.screen import paragraph
from quiz.verdict import Mark

LONGEST_LINE = 1000
BAR = 20
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
h hint   s skip   w worked solution; the question then counts as 0
u take the last answer back   q stop, to go on another day   ? this help
The words work too: hint, skip, why, undo, quit."""
PAUSE = "enter next · w why · u undo · q stop"


@final
class Terminal:
    """A learner who reads a console and types lines.

    Args:
        console: where everything is shown.
        lines: where lines come from.
    """

    def __init__(self, console: Console, lines: TextIO) -> None:
        self._console = console
        self._lines = lines
        self._interactive = lines.isatty() and console.is_terminal
        if self._interactive:
            with suppress(ImportError):
                import_module("readline")  # lets input() edit the line

    @property
    def interactive(self) -> bool:
        """Whether a person sees each line before typing the next."""
        return self._interactive

    def read(self) -> str | None:
        """Return the next line, cut where it is absurdly long; None at the end of input."""
        if not self._interactive:
            return self._piped()
        sys.stdout.flush()
        try:
            return input("> ")[: LONGEST_LINE + 1]
        except EOFError:
            self._console.print()
            return None

    def _piped(self) -> str | None:
        line = self._lines.readline(LONGEST_LINE + 1)
        piece = line
        while piece and not piece.endswith("\n"):
            piece = self._lines.readline(LONGEST_LINE)
        return line.rstrip("\r\n") if line else None

    def ask(self, session: Session, problem: Problem) -> None:
        """Show the question under a line that says where in the set it stands."""
        done, whole = session.position, len(session.problems)
        left = f"{done + 1}/{whole} · {TOPICS[problem.topic]} · {problem.level}"
        size = min(whole, BAR)
        full = size * (done + 1) // whole
        bar = "■" * full + "□" * (size - full)
        gap = " " * max(self._console.width - len(left) - size - 2, 2)
        self._console.print()
        self._console.print(Text(f" {left}{gap}{bar}", style="bold"))
        paragraph(self._console, problem.prompt, indent=1)

    def tell(self, event: Event, problem: Problem) -> None:
        """Show what a line led to."""
        match event:
            case Marked(given=given):
                self._verdict(given, problem)
            case Unread(typed=typed, why=why):
                self._say(caret(typed, why))
                self._say(f"Not counted: {why.reason}.")
            case Hint(text=text, number=number, of=of):
                self._say(f"hint {number}/{of}: {text}")
            case Undone():
                self._say("Taken back.", style="dim")
            case _:
                self._aside(event)

    def _aside(
        self, event: NoHint | Help | Blank | Clash | WantsNumber | NothingToUndo | Quit
    ) -> None:
        match event:
            case NoHint():
                self._say("There is no further hint; w shows the worked solution.")
            case Help():
                self._say(HELP)
            case Blank():
                self._say("Type an answer, or ? for the commands.", style="dim")
            case Clash(key=key, word=word):
                self._say(f"{key} is a symbol here; type {word} for the command, 1*{key} for it.")
            case WantsNumber():
                self._say("And the number that proves it? Enter alone leaves it out.")
            case NothingToUndo():
                self._say("There is no answer to take back.")
            case Quit():
                pass
            case _:
                assert_never(event)

    def pause(self) -> None:
        """Show what can be typed between two questions."""
        self._say(PAUSE, style="dim")

    def explain(self, problem: Problem) -> None:
        """Show the whole worked solution."""
        self._on_paper(problem)
        self._ledger_lines(problem)

    def _verdict(self, given: Given, problem: Problem) -> None:
        verdict = given.verdict
        if verdict.reading:
            self._say(f"read as {verdict.reading}", style="dim")
        for remark in verdict.remarks:
            self._say(f"({remark})", style="dim")
        self._say(verdict.feedback, style=COLOURS[verdict.verdict])
        if verdict.verdict in {"partial", "wrong", "shown"}:
            self._ledger_lines(problem)
        self._on_paper(problem)

    def _on_paper(self, problem: Problem) -> None:
        steps = [step.text for step in problem.solution if step.depth == "whiteboard"]
        if steps:
            self._say("on paper: " + "; ".join(steps))

    def _ledger_lines(self, problem: Problem) -> None:
        for step in problem.solution:
            if step.depth == "exact":
                paragraph(self._console, step.text, indent=3)

    def _say(self, text: str, *, style: str = "") -> None:
        paragraph(self._console, text, style=style, indent=1)
