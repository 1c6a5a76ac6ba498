"""What a key does on the interviewer's screen: what is seen, what is typed, what is to be kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from quiz.interview.second_screen import DIGITS, Desk, after, taken_back

ENTER, BACKSPACE, ESCAPE = "\n", "\x7f", "\x1b"
END = ""
# Ctrl-D, which nothing reads as the end of input while keys are read one by one.
CLOSING = "\x04"
# Of a note or an answer, in characters.
LONGEST = 1000
LINE_END = re.compile(r"\s*[\r\n]\s*")

Shown = Literal["question", "solution", "keys"]


@dataclass(frozen=True, kw_only=True)
class Text:
    """Text that comes at once, pasted or as a line.

    Args:
        words: what it says, in as many lines as it has.
        ends: whether Enter stands behind it.
    """

    words: str
    ends: bool = False

    @property
    def in_a_line(self) -> str:
        """Its words without what is no text, a space for each end of a line."""
        line = LINE_END.sub(" ", self.words).replace("\t", " ")
        return "".join(one for one in line if one.isprintable())


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A desk as it is looked at.

    Args:
        shown: what stands in the middle.
        page: of it, from 0 on; they come round.
        typing: "t" or "a" and the note or answer that is being typed; None where none is.
        says: what the last key did that is not seen, or why it did nothing; "" else.
    """

    desk: Desk
    shown: Shown = "question"
    page: int = 0
    typing: tuple[str, str] | None = None
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a key leads to: `lines` are what is to be kept of it, in their order.

    `stops` says that the screen is left.
    """

    screen: Screen
    lines: tuple[str, ...] = ()
    stops: bool = False


PASTED = "Pasted text is no key: t or a first."
WHY_NOT: Mapping[str, str] = {
    "x": "The next question is no follow-up; n goes on to it.",
    "r": "No earlier line gives the answer here.",
    "a": "No answer is read here: points are heard.",
    "b": "This is the first question.",
    "n": "That was the last question; q ends the interview.",
    "u": "There is no mark, point, note or answer here to take back.",
}


def pressed(screen: Screen, key: str | Text, seconds: float) -> Turn:
    """Return what a key or a text leads to, so many seconds behind the last line that was kept."""
    if key == END:
        return left(screen, seconds)
    if isinstance(key, Text):
        return _given(screen, key, seconds)
    if screen.typing is not None:
        return _typed(screen, *screen.typing, key, seconds)
    if key == CLOSING:
        return left(screen, seconds)
    plain, key = replace(screen, says=""), key.lower()
    if key == "q":
        return Turn(screen=_kept(plain, "q", seconds), lines=("q",), stops=True)
    looked = _looked(plain, key)
    return _acted(plain, key, seconds) if looked is None else Turn(screen=looked)


def left(screen: Screen, seconds: float) -> Turn:
    """Return what the end of input leads to: it stops, and what is being typed is kept.

    Behind the last question it does not end the interview, as q does.
    """
    lines = typed_so_far(screen)
    if screen.desk.question is not None:
        lines = (*lines, "q")
    at = replace(screen, says="", typing=None)
    for number, line in enumerate(lines):
        at = _kept(at, line, 0.0 if number else seconds)
    return Turn(screen=at, lines=lines, stops=True)


def typed_so_far(screen: Screen) -> tuple[str, ...]:
    """Return the line of the note or answer that is being typed; none where there is none."""
    what, words = screen.typing or ("", "")
    return (f"{what} {words.strip()}",) if words.strip() else ()


def _looked(screen: Screen, key: str) -> Screen | None:
    """Return the screen behind a key that changes what is seen alone; None where it is none."""
    match key:
        case "t" | "a" if key == "t" or screen.desk.is_answered:
            return replace(screen, typing=(key, ""))
        case "w":
            return _toggled(screen, "solution")
        case "?":
            return _toggled(screen, "keys")
        case " ":
            return replace(screen, page=screen.page + 1)
        case "\n" | "\x1b" | "\x7f":
            return replace(screen, shown="question", page=0)
        case _:
            return None


def _toggled(screen: Screen, shown: Shown) -> Screen:
    return replace(screen, shown="question" if screen.shown == shown else shown, page=0)


def _acted(screen: Screen, key: str, seconds: float) -> Turn:
    changed = after(screen.desk, key, 0.0) if len(key) == 1 else screen.desk
    if changed != screen.desk:
        says = f"{taken_back(screen.desk, changed)}." if key == "u" else ""
        return Turn(screen=replace(_kept(screen, key, seconds), says=says), lines=(key,))
    points = () if screen.desk.question is None else screen.desk.question.points
    if key in DIGITS:
        says = f"There are {len(points)} points here." if points else "No points are heard here."
    else:
        says = WHY_NOT.get(key, "No key does that here; ? shows the keys.")
    return Turn(screen=replace(screen, says=says))


def _kept(screen: Screen, line: str, seconds: float) -> Screen:
    desk = after(screen.desk, line, seconds)
    if desk.position != screen.desk.position:
        return Screen(desk=desk)
    return replace(screen, desk=desk, typing=None)


def _given(screen: Screen, text: Text, seconds: float) -> Turn:
    """Return what pasted text leads to, or a line that is a note or an answer."""
    if screen.typing is None:
        return Turn(screen=replace(screen, says=PASTED))
    what, words = screen.typing
    words = (words + text.in_a_line)[:LONGEST]
    if text.ends:
        return _typed(screen, what, words, ENTER, seconds)
    return Turn(screen=replace(screen, typing=(what, words)))


def _typed(screen: Screen, what: str, words: str, key: str, seconds: float) -> Turn:
    at = replace(screen, typing=(what, words))
    if key in {ENTER, CLOSING}:
        lines = typed_so_far(at)
        for line in lines:
            at = _kept(at, line, seconds)
        return Turn(screen=replace(at, typing=None), lines=lines)
    if key == ESCAPE:
        return Turn(screen=replace(screen, typing=None))
    if key == BACKSPACE:
        words = words[:-1]
    elif len(words) < LONGEST and key.isprintable():
        words += key
    return Turn(screen=replace(screen, typing=(what, words)))
