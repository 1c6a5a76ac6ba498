"""An interview of two people: its sheets written, and its second screen held at a terminal."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic

from rich.console import Console

from problems.interview.script import Interview
from quiz.history.interviews import Interviews
from quiz.interview.keys import opened
from quiz.interview.scorecard import Scorecard
from quiz.interview.scorecard_words import clock
from quiz.interview.second_card import card
from quiz.interview.second_screen import MARK_WORDS, MARKS, Desk, after, begun
from quiz.interview.second_screen_terminal import Ending, SecondScreen, surface
from quiz.interview.second_sitting import BARE, Seat
from quiz.interview.sheet_files import written
from quiz.interview.sheets import CANDIDATE, again, files
from quiz.output.screen import paragraph, whole_lines

WHOSE = {True: "for the candidate: the question, what may be used, room to write",
         False: "for the interviewer: answers, what to listen for, room for marks"}  # fmt: skip
DONE: dict[str, str] = {
    "n": "next question", "b": "question before", "x": "follow-up passed over",
    "p": "clock stopped or let go on", "q": "stopped",
}  # fmt: skip


def write_sheets(console: Console, interview: Interview, folder: str) -> None:
    """Write both sheets into a folder, and say what they are.

    Raises:
        InputError: a file there says something else, or one cannot be written.
    """
    paths = written("--out", folder, files(interview))
    paragraph(console, f"{interview.id}: {interview.level}, {interview.minutes} minutes")
    for path in paths:
        whole_lines(console, f"  {path}")
        paragraph(console, WHOSE[path.stem == CANDIDATE], indent=4)
    paragraph(console, "The interviewer's screen, with clock and marks:")
    whole_lines(console, f"  {BARE} {again(interview)}")


def hold(console: Console, seat: Seat, store: Interviews | None) -> tuple[Ending, Desk]:
    """Show the second screen until it is left; every line is kept before it is shown.

    Raises:
        InputError: standard input or the store cannot be used.
    """
    if seat.resumed:
        number = min(seat.desk.position + 1, len(seat.desk.interview.questions))
        paragraph(console, f"Going on at question {number}. A new interview: --new")
    keep: Callable[[float, str], None] = _unkept
    if store is not None and seat.saved is not None:
        keep = partial(store.keep, seat.saved.key)
    with opened(sys.stdin) as keys, surface(console) as drawn:
        screen = SecondScreen(seat.desk, keys=keys, surface=drawn, journal=keep, clock=monotonic)
        ending = screen.run()
    return ending, screen.desk


def _unkept(_seconds: float, _line: str) -> None:
    """Keep nothing."""


def card_of(seat: Seat, desk: Desk) -> Scorecard:
    """Return the scorecard of an interview that was held."""
    return card(desk, started=seat.started)


def told(interview: Interview, lines: tuple[tuple[float, str], ...]) -> Iterator[str]:
    """Yield what the interviewer did, line by line, each behind its time."""
    desk = begun(interview)
    yield _asked(desk)
    for seconds, line in lines:
        before, desk = desk, after(desk, line, seconds)
        yield f"{clock(desk.total):>6}  {_said(before, desk, line)}"
        if desk.position != before.position and desk.question is not None:
            yield _asked(desk)


def _asked(desk: Desk) -> str:
    return "" if desk.question is None else f"{desk.question.key}: {desk.question.says}"


def _said(before: Desk, desk: Desk, line: str) -> str:
    key, question = line[:1], before.question
    if key == "t":
        return f"note: {line[1:].strip()}"
    if key == "a":
        return f"answer: {line[1:].strip()}"
    if key in MARKS:
        given = question is not None and question.key in desk.marks
        return f"mark: {MARK_WORDS[MARKS[key]] if given else 'taken back'}"
    if key == "r":
        return "earlier line used" if desk.reused > before.reused else "earlier line not used"
    if key.isdigit() and question is not None and before.heard != desk.heard:
        says = question.points[int(key) - 1].says
        return f"{'heard' if desk.heard > before.heard else 'not heard'}: {says}"
    return DONE.get(key, key)
