"""The interviewer's screen, drawn: keys in, lines out, the clock every second."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Literal, Protocol, Self, final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from quiz.interview.keys import END, Keys
from quiz.interview.second_screen import Desk, Screen, passing, pressed
from quiz.interview.second_screen_lines import Row, Style, rows, whole
from quiz.output.screen import is_plain, whole_lines
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


def surface(console: Console) -> "Redrawn | Printed":
    """Return what a console can do: a screen drawn in place, or lines one after another."""
    plain = is_plain(console) or console.is_dumb_terminal
    in_place = console.is_terminal and not plain
    return Redrawn(console) if in_place else Printed(console)


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
    """Lines one after another, for a pipe, a plain terminal or a reader of screens."""

    def __init__(self, console: Console) -> None:
        self._console = console
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
        if again or (self._last is not None and screen.typing is not None):
            return
        lines = whole(screen, self._console.width)
        shown = lines if self._is_new(screen) else lines[-1:]
        for row in shown:
            whole_lines(self._console, row.text)
        self._last = screen

    def _is_new(self, screen: Screen) -> bool:
        return self._last is None or _shows(self._last) != _shows(screen)


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

    @property
    def desk(self) -> Desk:
        """Where the interview stands."""
        return self._screen.desk

    def run(self) -> Ending:
        """Show the screen until the interview is ended or left."""
        try:
            return self._run()
        except KeyboardInterrupt:
            return "interrupted"

    def _run(self) -> Ending:
        since, again = self._clock(), False
        while True:
            self._show(self._clock() - since, again=again)
            key = self._keys.read(1 - (self.desk.total + self._clock() - since) % 1)
            again = key is None
            if key is None:
                continue
            now = self._clock()
            seconds = round(now - since, 3)
            turn = pressed(self._screen, "q" if key == END else key, seconds)
            if turn.line is not None:
                self._journal(seconds, turn.line)
                since = now
            self._screen = turn.screen
            if turn.stops:
                return "finished" if self.desk.closed else "stopped"

    def _show(self, seconds: float, *, again: bool) -> None:
        live = replace(self._screen, desk=passing(self.desk, seconds))
        self._surface.draw(live, again=again)
