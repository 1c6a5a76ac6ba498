"""The learner at a terminal or behind a pipe: lines in, questions and verdicts out."""

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import TextIO, final

from rich.console import Console

from problems.problem import TOPICS, Problem
from quiz.answers import caret
from quiz.marking.attempt import Attempt
from quiz.marking.registry import marker_of, request_of
from quiz.marking.verdict import Mark
from quiz.output.screen import HALF, RIGHT, WRONG, is_plain, paragraph, whole_lines
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
    Readable,
    Reading,
    Stands,
    Undone,
    Unread,
    WantsMark,
    WantsRest,
    Withdrawn,
)
from quiz.practice.key_line import SEPARATOR, Key, behind_verdict, in_one_line, of_question
from quiz.practice.session import Session, can_overrule

BAR = 20
# Shorter ones say nothing.
SHORTEST_BAR = 5
STEP = 3
COLOURS: Mapping[Mark, str] = {
    "correct": RIGHT,
    "partial": HALF,
    "wrong": WRONG,
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
r how an answer would be read, without giving it, as in r 37 GB
u take the last answer back, unless its solution was asked for
o behind the verdict on a claim: your own mark, as in o partial
q stop, to go on another day   ? this help
Behind a verdict a key needs no Enter where the terminal allows it.
The words work too: hint, reading, skip, why, undo, quit; capital letters do.
Behind the level stands the question's id, to have it again:
memquiz practice --problem zero-states@7"""
BEHIND = "whu?q"
KEPT = "Nothing is asked here; Enter goes on, and this will stand at the next prompt."
FORMS = " · "
OWN_MARKS = ("c correct", "p partial", "w wrong")
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
        self._typed: str | None = None

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
        self._console.print()
        self._head(session, problem)
        self._say(problem.prompt)
        self._exhibit(problem.exhibit)
        request = request_of(problem.answer)
        if request is not None:
            for line in request.items:
                self._item(line)
            self._say(request.wants)
        if self.interactive:
            self._keys(of_question(session, problem))

    def _head(self, session: Session, problem: Problem) -> None:
        done, whole = session.position, session.whole
        if is_plain(self._console):
            self._say(f"question {done + 1} of {whole}")
            self._say(f"topic: {TOPICS[problem.topic]}\nlevel: {problem.level}\nid: {problem.id}")
            return
        left = f"{done + 1}/{whole} · {TOPICS[problem.topic]} · {problem.level} · {problem.id}"
        room = self._console.width - len(left) - 3
        size = min(whole, BAR, room)
        if size >= min(whole, SHORTEST_BAR):
            full = size * (done + 1) // whole
            left = f"{left}{' ' * (room - size + 2)}{'■' * full}{'□' * (size - full)}"
        self._say(left, style="bold")

    def _item(self, line: str) -> None:
        """Show a thing to pick behind its key."""
        said = line.strip().replace("  ", ": ", 1) if is_plain(self._console) else line
        paragraph(self._console, said, indent=STEP, hanging=STEP)

    def _exhibit(self, text: str) -> None:
        """Show lines as they stand; to a voice, those that have something to say."""
        if is_plain(self._console):
            text = "\n".join(line for line in text.splitlines() if any(map(str.isalnum, line)))
        whole_lines(self._console, indent(text, " " * STEP))

    def _keys(self, keys: Sequence[Key]) -> None:
        if is_plain(self._console):
            self._say(f"keys: {', '.join(key.said for key in keys)}")
        else:
            self._say(in_one_line(keys, self._console.width - 1), style="dim")

    def tell(self, event: Event, problem: Problem) -> None:
        """Show what a line led to."""
        match event:
            case Marked(attempt=attempt):
                self._verdict(attempt, problem)
            case Unread() | Reading() | Readable():
                self._read_back(event)
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

    def _read_back(self, event: Unread | Reading | Readable) -> None:
        """Show how a line is read, where it cannot be, or what can be."""
        match event:
            case Unread(typed=typed, why=why):
                self._point(*caret(typed, why).splitlines(), number=why.offset + 1)
                self._say(f"Not counted: {why.reason}.")
            case Reading(reading=reading, remarks=remarks):
                self._as_read(f"would be read as {reading}", remarks)
                self._say("Nothing was answered.", style="dim")
            case Readable(forms=forms):
                example = forms[0] if forms else "37 GB"
                self._say(f"r {example} shows how that would be read, and answers nothing.")
                if forms:
                    self._say(f"This question reads, for example: {FORMS.join(forms)}")

    def _aside(self, event: Event) -> None:
        if isinstance(event, Clash):
            self._say(
                f"{event.key} is a symbol here; type {event.word} for the command, "
                f"{event.instead} for it."
            )
        elif isinstance(event, NotACommand) and self._lines.offer(self._typed or ""):
            self._say(KEPT)
        elif type(event) in DIM:
            self._say(DIM[type(event)], style="dim")
        elif type(event) in SAID:
            self._say(SAID[type(event)])

    def pause(self, session: Session, problem: Problem) -> str | None:
        """Show what can be typed behind the verdict on `problem`, and return what is.

        Raises:
            InputError: standard input cannot be read.
        """
        self._keys(behind_verdict(session, problem))
        own_mark = can_overrule(session, problem)
        self._typed = self._lines.key(BEHIND + "o" * own_mark)
        if self._typed is not None and self._typed.strip().lower() == "o" and own_mark:
            marks = f"keys: {', '.join(OWN_MARKS)}" if is_plain(self._console) else None
            self._say(marks or SEPARATOR.join(OWN_MARKS), style="dim")
            mark = self._lines.key("cpw")
            self._typed = None if mark is None else f"o {mark}".strip()
        return self._typed

    def explain(self, problem: Problem) -> None:
        """Show the whole worked solution."""
        self._on_paper(problem)
        self._ledger_lines(problem)

    def _verdict(self, attempt: Attempt, problem: Problem) -> None:
        verdict = attempt.verdict
        self._as_read(f"read as {verdict.reading}" if verdict.reading else "", verdict.remarks)
        self._say(verdict.feedback, style=COLOURS[verdict.verdict])
        if verdict.verdict in {"partial", "wrong", "shown"}:
            self._ledger_lines(problem)
        if not marker_of(problem.answer).gives_reason:
            self._on_paper(problem)

    def _as_read(self, reading: str, remarks: Sequence[str]) -> None:
        self._say(reading, style="dim")
        for remark in remarks:
            plain = is_plain(self._console)
            self._say(f"remark: {remark}" if plain else f"({remark})", style="dim")

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

    def _point(self, line: str, mark: str, *, number: int) -> None:
        """Show a line with the mark below it, as much of it as there is room for.

        `number` is the character that the mark stands below, in all that was typed.
        """
        if is_plain(self._console):
            rest = line[len(mark) - 1 :]
            self._say(f"typed: {line}\nfrom character {number}: {rest or 'the end'}")
            return
        room = self._console.width - 2
        start = max(0, min(len(mark) - room * 2 // 3, len(line) - room))
        for text in (line, mark):
            whole_lines(self._console, " " + text[start : start + room])

    def _say(self, text: str, *, style: str = "") -> None:
        paragraph(self._console, text, style=style, indent=1)
