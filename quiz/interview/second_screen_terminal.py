"""The interviewer's screen, drawn: keys in, lines out, the clock every second."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Literal, Protocol, Self, final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from quiz.interview.keys import Keys
from quiz.interview.pressing import Screen, Turn, left, pressed
from quiz.interview.second_screen import Desk, passing
from quiz.interview.second_screen_lines import PROMPTS, Row, Style, keys_said, rows, whole
from quiz.output.screen import is_plain, paragraph, whole_lines
from quiz.output.started import typed_here

Ending = Literal["finished", "stopped", "interrupted"]
Journal = Callable[[float, str], None]
"""Where lines are kept, with the seconds since the one before: safe when it returns."""

STYLES: dict[Style, str] = {
    "": "", "strong": "bold", "head": "reverse", "over": "bold reverse", "dim": "dim",
}  # fmt: skip


class Drawn(Protocol):
    """What a screen is drawn on."""

    def draw(self, screen: Screen, *, again: bool) -> None:
        """Show a screen; `again` says that nothing but the clock may be new."""


def in_place(console: Console) -> bool:
    """Say whether a screen can be drawn in place, else lines one after another."""
    return console.is_terminal and not is_plain(console) and not console.is_dumb_terminal


def surface(console: Console, *, by_hand: bool) -> "Redrawn | Printed":
    """Return what a console can do; `by_hand` says that keys are pressed and no lines sent."""
    return Redrawn(console) if in_place(console) else Printed(console, by_hand=by_hand)


@final
class Redrawn:
    """A whole screen of a terminal, which comes back as it was behind it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def draw(self, screen: Screen, *, again: bool) -> None:
        """Draw in place."""
        del again
        lines = rows(screen, self._console.width, self._console.height)
        self._live.update(_text(lines, plain=self._console.no_color), refresh=True)


@final
class Printed:
    """Lines one after another, for a pipe, a plain terminal or a reader of screens.

    Args:
        console: where they are printed.
        by_hand: whether keys are pressed, which are then told, and notes and answers prompted for.
    """

    def __init__(self, console: Console, *, by_hand: bool) -> None:
        self._console = console
        self._by_hand = by_hand
        self._last: Screen | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave everything as it stands."""

    def draw(self, screen: Screen, *, again: bool) -> None:
        """Print the question where it is new, else the line that says how it stands."""
        if again:
            return
        last, self._last = self._last, screen
        if screen.typing is not None:
            if self._by_hand and (last is None or last.typing is None):
                self._console.out(PROMPTS[screen.typing[0]], end="", highlight=False)
            return
        for _, note in () if last is None else screen.desk.notes[len(last.desk.notes) :]:
            whole_lines(self._console, f"noted: {note}")
        lines = whole(screen, self._console.width)
        is_new = last is None or _shows(last) != _shows(screen)
        for row in lines if is_new else lines[-1:]:
            whole_lines(self._console, row.text)
        if is_new and self._by_hand:
            paragraph(self._console, keys_said(screen.desk))


def _shows(screen: Screen) -> tuple[object, ...]:
    """Return what stands on a screen but for the clock, marks, points and notes."""
    desk = screen.desk
    return desk.position, screen.shown, desk.passed, tuple(desk.answers.items())


def _text(lines: Sequence[Row], *, plain: bool) -> Text:
    text = Text(no_wrap=True, overflow="crop")
    for number, row in enumerate(lines):
        text.append("\n" if number else "")
        text.append(typed_here(row.text), style="" if plain else STYLES[row.style])
    return text


@final
class SecondScreen:
    """A sitting of the interviewer. `desk` is always what the journal's lines lead to."""

    def __init__(
        self, desk: Desk, *, keys: Keys, surface: Drawn, journal: Journal,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._screen = Screen(desk=desk)
        self._keys = keys
        self._surface = surface
        self._journal = journal
        self._clock = clock
        self._since = clock()

    @property
    def desk(self) -> Desk:
        """Where the interview stands."""
        return self._screen.desk

    def run(self) -> Ending:
        """Show the screen until the interview is ended or left; what is being typed is kept.

        Raises:
            OSError: the screen cannot be written to.
            SystemExit: a signal ends the process.
        """
        self._since = self._clock()
        try:
            return self._run()
        except KeyboardInterrupt:
            self._take(left(self._screen, self._passed()))
            return "interrupted"
        except (OSError, SystemExit):
            self._take(left(self._screen, self._passed()))
            raise

    def _run(self) -> Ending:
        again = False
        while True:
            self._show(self._clock() - self._since, again=again)
            second = 1 - (self.desk.total + self._clock() - self._since) % 1
            key = self._keys.read(second, typing=self._screen.typing is not None)
            again = key is None
            if key is None:
                continue
            turn = pressed(self._screen, key, self._passed())
            self._take(turn)
            if turn.stops:
                return "finished" if self.desk.closed else "stopped"

    def _take(self, turn: Turn) -> None:
        """Keep the lines of a turn, the first behind its seconds, and then its screen."""
        for number, line in enumerate(turn.lines):
            self._journal(0.0 if number else self._passed(), line)
        if turn.lines:
            self._since = self._clock()
        self._screen = turn.screen

    def _passed(self) -> float:
        """Return the seconds since the last line that was kept."""
        return round(self._clock() - self._since, 3)

    def _show(self, seconds: float, *, again: bool) -> None:
        live = replace(self._screen, desk=passing(self.desk, seconds))
        self._surface.draw(live, again=again)
