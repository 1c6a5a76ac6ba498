"""The candidate at a terminal or behind a pipe: lines in, questions out, no verdicts."""

from collections.abc import Mapping
from textwrap import indent
from typing import TextIO, final

from rich.console import Console

from problems.answers.answer import Answer
from quiz.answers import Unreadable, caret
from quiz.interview.answer_in import CORRECTS
from quiz.interview.events import (
    Answered,
    Back,
    Clash,
    Event,
    Help,
    Hint,
    Left,
    NoHint,
    NothingToRead,
    NothingToUndo,
    NotRead,
    NoVerdict,
    Paused,
    Read,
    Resumed,
    Stands,
    TakenBack,
    Thought,
    Unanswered,
)
from quiz.interview.key_line import of_question
from quiz.interview.marking import Phrases, reply
from quiz.interview.scorecard_words import clock, of_reply
from quiz.interview.sitting import Sitting
from quiz.marking.registry import marker_of, request_of
from quiz.marking.verdict import Verdict
from quiz.output.screen import is_plain, paragraph, whole_lines
from quiz.output.typing_in import Lines
from quiz.practice.key_line import in_one_line

STEP = 3
# A line of so many words without a figure may be meant as an answer.
FEW = 6
HELP = """\
Say what you think, in as many lines as you like: all of it is heard.
A line that can be read as the answer is the answer; the last one counts.
An empty line goes on to the next question.
h hint   r 37 GB how that would be read, without giving it
s pass the question over   u take the last line back, or go back a question
p stop the clock until the next line   q stop, to go on another day   ? this help
The words work too: hint, reading, skip, undo, pause, quit; capital letters do.
A line of several words is never one of these, but for r with an answer."""
STANDS = "You cannot go back there: what you were told since would help."
SAID: Mapping[type, str] = {
    Back: "Back to the question before; what you said to it stands below it.",
    NothingToUndo: "There is no line to take back.",
    Stands: STANDS,
    NoHint: "There is no hint, or no further one.",
    Paused: "The clock stands until the next line; Enter alone lets it go on.",
    Resumed: "The clock goes on.",
    Unanswered: "No answer was read; type it, or Enter again to go on.",
    Help: HELP,
    NoVerdict: "Solutions come at the end; s passes the question over.",
}


@final
class Terminal:
    """A candidate who reads a console and types lines.

    Args:
        console: where everything is shown.
        lines: where lines come from.
        phrases: what points are heard by, where verdicts are shown at once.
    """

    def __init__(self, console: Console, lines: TextIO, phrases: Phrases) -> None:
        self._console = console
        self._lines = Lines(console, lines)
        self._phrases = phrases
        self._told = False
        self._opened = False

    def read(self, sitting: Sitting) -> str | None:
        """Return the next line behind the clock of the part; None at the end of input.

        Raises:
            InputError: standard input cannot be read.
        """
        part = sitting.part_of(sitting.position)
        planned = sitting.interview.parts[part].minutes
        time = f"{clock(sitting.seconds(part))} of {planned}:00"
        return self._lines.read(f"{'paused at ' if sitting.paused else ''}{time} > ")

    def ask(self, sitting: Sitting) -> None:
        """Show the question under a line that says where it stands, with what was said to it."""
        self._open(sitting)
        index = sitting.part_of(sitting.position)
        part, parts = sitting.interview.parts[index], sitting.interview.parts
        question, number = sitting.question, sitting.position + 1
        self._console.print()
        self._say(
            f"part {index + 1}/{len(parts)} · {part.title} · {part.minutes} min · "
            f"question {number}/{len(sitting.interview.questions)}",
            style="bold",
        )
        self._say(question.says)
        if question.problem is not None:
            whole_lines(self._console, indent(question.problem.exhibit, " " * STEP))
            answer = question.problem.answer
            request = request_of(answer)
            if request is not None:
                for line in () if _says_them(question.says, answer) else request.items:
                    paragraph(self._console, line, indent=STEP, hanging=STEP)
                self._say(request.wants)
        for one in sitting.exchange.said:
            self._say(f"> {one.typed}", style="dim")
        self._keys(sitting)

    def _keys(self, sitting: Sitting) -> None:
        keys = of_question(sitting)
        if is_plain(self._console):
            self._say(f"keys: {', '.join(key.said for key in keys)}")
        else:
            self._say(in_one_line(keys, self._console.width - 1), style="dim")

    def tell(self, event: Event, sitting: Sitting) -> None:
        """Show what a line led to, in the state behind it."""
        match event:
            case Answered(verdict=verdict):
                self._read_as(verdict, sitting)
                self._wants_rest(verdict, sitting)
            case Read(verdict=verdict):
                self._read_as(verdict, sitting)
                self._say("It was not given: type it without the r.", style="dim")
            case Thought(typed=typed, why=why):
                self._thought(typed, why, sitting)
            case NotRead(typed=typed, why=why):
                whole_lines(self._console, indent(caret(typed, why), " "))
                self._say(f"It cannot be read: {why.reason}.")
            case Hint(text=text, number=number, of=of):
                self._say(f"hint {number}/{of}: {text}")
            case Left(index=index, skipped=skipped):
                self._left(index, sitting, skipped=skipped)
            case _:
                self._aside(event)

    def _aside(self, event: Event) -> None:
        match event:
            case TakenBack(typed=typed):
                self._say(f"Taken back: {typed}", style="dim")
            case NothingToRead(listened=listened):
                says = "no answer is read here: say it in words" if listened else "type r 37 GB"
                self._say(f"{says[0].upper()}{says[1:]}.")
            case Clash(key=key, word=word, instead=instead):
                self._say(
                    f"{key} is a symbol here; type {word} for the command, {instead} for it."
                )
            case _:
                self._say(SAID.get(type(event), ""))

    def _open(self, sitting: Sitting) -> None:
        """Show the run once, and its conditions once the candidate had asked for them."""
        interview = sitting.interview
        if not self._opened:
            self._opened = True
            self._console.print()
            self._say(
                f"mock interview · {interview.level} · {interview.minutes} minutes · "
                f"{interview.id}",
                style="bold",
            )
            self._say(interview.opening)
        asked = [at for at, one in enumerate(interview.questions) if one.aspect == "conditions"]
        if not self._told and (not asked or sitting.position > asked[0]):
            self._told = True
            self._console.print()
            self._say(interview.conditions)

    def _left(self, index: int, sitting: Sitting, *, skipped: bool) -> None:
        if skipped:
            self._say("Passed over.", style="dim")
        if sitting.at_once:
            for line in of_reply(reply(sitting, index, self._phrases)):
                paragraph(self._console, line, indent=1, hanging=2)

    def _read_as(self, verdict: Verdict, sitting: Sitting) -> None:
        self._say(f"read as {verdict.reading or 'your answer'}", style="dim")
        problem = sitting.question.problem
        if problem is None or marker_of(problem.answer).own_mark:
            return  # what was heard in words would tell the verdict
        for remark in verdict.remarks:
            self._say(f"({remark})", style="dim")

    def _wants_rest(self, verdict: Verdict, sitting: Sitting) -> None:
        problem = sitting.question.problem
        halves = None if problem is None else marker_of(problem.answer).halves
        if halves is not None and halves.lacks(verdict):
            self._say(halves.wants(verdict))

    def _thought(self, typed: str, why: Unreadable | None, sitting: Sitting) -> None:
        """Say that a line was heard; where it may be meant as the answer, why it is none."""
        given = sitting.exchange.answer
        if why is None or not _may_be_meant(typed):
            self._say("noted", style="dim")
        elif given is None:
            self._say(f"noted; no answer is read in it: {why.reason}", style="dim")
        elif _has_figure(typed) or CORRECTS.search(typed):
            self._say(f"noted; your answer stays: {given.typed}", style="dim")
        else:
            self._say("noted", style="dim")

    def _say(self, text: str, *, style: str = "") -> None:
        paragraph(self._console, text, style=style, indent=1)


def _may_be_meant(typed: str) -> bool:
    """Say whether a line that is no answer may have been meant as one."""
    is_short = len(typed.split()) <= FEW and not typed.rstrip().endswith("?")
    return is_short or _has_figure(typed) or CORRECTS.search(typed) is not None


def _has_figure(typed: str) -> bool:
    return any(character.isdigit() for character in typed)


def _says_them(question: str, answer: Answer) -> bool:
    """Say whether a question has what may be picked in its words already."""
    items = [f"{key} {name}" for key, name in answer.alone.items()]
    return bool(items) and all(item in question for item in items)
