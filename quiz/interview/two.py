"""An interview of two people: its sheets written, its second screen held, and read again."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import monotonic

from rich.console import Console

from engine.errors import Fault, InputError
from problems.interview.drawing import interview
from problems.interview.script import Interview
from problems.problem import Level
from quiz.exits import Exit
from quiz.history.interviews import TWO, Interviews, SavedInterview
from quiz.history.store import data_folder
from quiz.interview.closing import close, left
from quiz.interview.kept_before import kept_before
from quiz.interview.keys import opened
from quiz.interview.scorecard_words import clock
from quiz.interview.second_card import card
from quiz.interview.second_screen import MARK_WORDS, MARKS, Desk, after, begun, taken_back
from quiz.interview.second_screen_terminal import SecondScreen, in_place, surface
from quiz.interview.second_sitting import BARE, Drawing, Seat, drawn, seat_of, sit_down
from quiz.interview.sheet_files import folder_faults, written
from quiz.interview.sheets import CANDIDATE, again, files
from quiz.interview.taking_up import marks
from quiz.output.screen import open_console, paragraph, whole_lines

# Characters of a uid that are enough to name it.
SHORT = 8
SHEETS = {
    True: "for the candidate: the question, what may be used, room to write",
    False: "for the interviewer: answers, what to listen for, room for marks",
}
DONE = {
    "n": "next question", "b": "question before", "x": "follow-up passed over",
    "p": "clock stopped, or let go on", "q": "stopped",
}  # fmt: skip


Asked = tuple[Level | None, int | None, int | None]
"""Level, minutes and seed; None where none was given."""


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options of an interview of two as they were typed.

    Args:
        out: the folder of the sheets; None where none are wanted.
        interviewer: whether the second screen is wanted.
        new: begin an interview in any case.
        no_save: keep nothing.
        at_once: show marks behind each question, which is for one alone.
        replay: which is to be told again, "" for the last one; None where none is.
        scorecard: the folder of the scorecard's pages; None where none are wanted.
    """

    out: str | None = None
    interviewer: bool = False
    new: bool = False
    no_save: bool = False
    at_once: bool = False
    replay: str | None = None
    scorecard: str | None = None

    def __post_init__(self) -> None:
        if self.out is None:
            return
        held = {
            "--interviewer": self.interviewer, "--new": self.new, "--no-save": self.no_save,
            "--replay": self.replay is not None, "--scorecard": self.scorecard is not None,
            "--at-once": self.at_once,
        }  # fmt: skip
        if others := [name for name, given in held.items() if given]:
            what = f"writes sheets and holds no interview, so {', '.join(others)} has no use"
            raise InputError(Fault("--out", what, "leave one out"))


def of_two(asked: Asked, wishes: Wishes) -> Exit:
    """Write the sheets of an interview of two, hold it, or tell it again.

    Raises:
        InputError: what was asked for cannot be done.
    """
    if wishes.scorecard is not None:
        faults = tuple(folder_faults("--scorecard", wishes.scorecard))
        if faults:
            raise InputError(*faults)
    console = open_console()
    if wishes.out is not None:
        return write_sheets(console, drawn(interview, *asked), wishes.out)
    if wishes.replay is not None:
        saved = kept_before(data_folder(), wishes.replay, mode=TWO)
        return replay(console, saved, interview, wishes.scorecard)
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", "keys are read from it"))
    kept = nullcontext() if wishes.no_save else Interviews(data_folder(), mode=TWO)
    with kept as store:
        seat = sit_down(interview, asked, store=store, new=wishes.new)
        return hold(console, seat, store, wishes.scorecard)


def write_sheets(console: Console, of: Interview, folder: str) -> Exit:
    """Write both sheets into a folder, and say what they are.

    Raises:
        InputError: a file there says something else, or one cannot be written.
    """
    paths = written("--out", folder, files(of))
    paragraph(console, f"{of.id}: {of.level}, {of.minutes} minutes")
    for path in paths:
        whole_lines(console, f"  {path}")
        paragraph(console, SHEETS[path.stem == CANDIDATE], indent=4)
    paragraph(console, "The interviewer's screen, with clock and marks:")
    whole_lines(console, f"  {BARE} {again(of)}")
    return Exit.DONE


def hold(console: Console, seat: Seat, store: Interviews | None, folder: str | None) -> Exit:
    """Show the second screen until it is left; at the end of the interview, its scorecard.

    Args:
        console: where everything is shown.
        seat: where the interview stands.
        store: where it is kept, each line before it is shown; None keeps nothing.
        folder: where the pages of its scorecard are written; None writes none.

    Raises:
        InputError: standard input or the store cannot be used, or a page cannot be written.
    """
    if store is not None and store.notice:
        whole_lines(console, store.notice)
    if seat.resumed:
        number = min(seat.desk.position + 1, len(seat.desk.interview.questions))
        paragraph(console, f"Going on at question {number}. A new interview: --new")
    saved = seat.saved
    keep: Callable[[float, str], None] = _unkept
    if store is not None and saved is not None:
        keep = partial(store.keep, saved.key)
    by_hand = sys.stdin.isatty()
    with (
        opened(sys.stdin, in_lines=not in_place(console)) as keys,
        surface(console, by_hand=by_hand) as shown,
    ):
        screen = SecondScreen(seat.desk, keys=keys, surface=shown, journal=keep, clock=monotonic)
        ending = screen.run()
    if ending != "finished":
        left(console, seat.again, folder, kept=saved is not None)
        return Exit.INTERRUPTED if ending == "interrupted" else Exit.DONE
    scorecard = card(screen.desk, started=seat.started)
    if store is not None and saved is not None:
        store.finish(saved.key, marks(scorecard))
    again_told = "" if saved is None else f"{BARE} --replay {saved.uid[:SHORT]}"
    close(console, scorecard, folder, again_told)
    return Exit.DONE


def _unkept(_seconds: float, _line: str) -> None:
    """Keep nothing."""


def replay(console: Console, saved: SavedInterview, draw: Drawing, folder: str | None) -> Exit:
    """Tell what was done in a kept interview and when, and show its scorecard.

    Raises:
        InputError: a page cannot be written.
    """
    seat = seat_of(saved, draw)
    paragraph(console, seat.desk.interview.opening)
    for line in told(seat.desk.interview, saved.lines):
        paragraph(console, line, hanging=8 if line.startswith(" ") else 0)
    console.print()
    close(console, card(seat.desk, started=seat.started), folder)
    return Exit.DONE


def told(of: Interview, lines: tuple[tuple[float, str], ...]) -> Iterator[str]:
    """Yield what the interviewer did, line by line, each behind its time."""
    desk = begun(of)
    yield _asked(desk)
    for seconds, line in lines:
        before, desk = desk, after(desk, line, seconds)
        yield f"{clock(desk.total):>6}  {_said(before, desk, line)}"
        if desk.position != before.position:
            yield _asked(desk)


def _asked(desk: Desk) -> str:
    question = desk.question
    return "the end" if question is None else f"{question.key}: {question.says}"


def _said(before: Desk, desk: Desk, line: str) -> str:
    key, words, question = line[:1], line[1:].strip(), before.question
    if key in {"t", "a"}:
        return f"{'note' if key == 't' else 'answer'}: {words}"
    if key in MARKS:
        given = question is not None and question.key in desk.marks
        return f"mark: {MARK_WORDS[MARKS[key]] if given else 'taken back'}"
    if key == "u" and before != desk:
        said = taken_back(before, desk)
        return f"{said[0].lower()}{said[1:]}"
    if key == "r":
        return "earlier line used" if desk.reused > before.reused else "earlier line not used"
    if key.isdigit() and question is not None and before.heard != desk.heard:
        says = question.points[int(key) - 1].says
        return f"{'heard' if desk.heard > before.heard else 'not heard'}: {says}"
    return DONE.get(key, key)
