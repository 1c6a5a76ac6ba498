"""Single keys from a terminal, without Enter.

What was typed ahead or pasted comes in order and whole: it is the caller's to tell it from a key.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from select import select
from types import FrameType, ModuleType
from typing import Any, Protocol, TextIO, final

# Keys of a person lie further apart than this, and what a paste brings does not. Seconds.
TOGETHER = 0.02
PIECE = 1024
# Ctrl-D, and how it comes where it was typed before keys were read one by one.
END = {"\x04", "\x00"}
# Arrows, function keys and the like: nothing that is asked for.
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])?", re.DOTALL)
DUMB = {"dumb", "unknown"}


class Keys(Protocol):
    """A keyboard."""

    def wait(self) -> str | None:
        """Return the key that is pressed next, or all that came with it; None at the end."""


def keys_of(stream: TextIO) -> Keys | None:
    """Return what reads single keys from `stream`; None where only whole lines can be read."""
    if not stream.isatty():
        return None
    with suppress(ImportError):
        return WindowsKeys(import_module("msvcrt"))
    if dumb():
        return None
    with suppress(ImportError, OSError, ValueError):
        import_module("termios")
        return PosixKeys(stream.fileno())
    return None


def dumb() -> bool:
    """Say whether the terminal takes lines alone and cannot move its cursor."""
    return os.environ.get("TERM", "").lower() in DUMB


@final
class PosixKeys:
    """The keyboard of a POSIX terminal, in cbreak mode while a key is waited for.

    Args:
        number: the terminal's file descriptor.
    """

    def __init__(self, number: int) -> None:
        self._number = number

    def wait(self) -> str | None:
        """Return the key that is pressed next, or all that came with it; None at the end."""
        with restored(self._number):
            try:
                _one_by_one(self._number)
                typed = os.read(self._number, PIECE)
                while typed and select([self._number], [], [], TOGETHER)[0]:
                    more = os.read(self._number, PIECE)
                    if not more:
                        break
                    typed += more
            except OSError:  # the terminal is gone
                return None
        said = typed.decode(sys.stdin.encoding or "utf-8", errors="replace")
        return None if said in {"", *END} else _text(said)


@final
class WindowsKeys:
    """The keyboard of a Windows console.

    Args:
        console: the module `msvcrt`.
    """

    def __init__(self, console: ModuleType) -> None:
        self._console = console

    def wait(self) -> str | None:
        """Return the key that is pressed next, or all that came with it; None at the end.

        Raises:
            KeyboardInterrupt: it is Ctrl-C.
        """
        typed = self._key()
        while self._console.kbhit():
            typed += self._key()
        if "\x03" in typed:
            raise KeyboardInterrupt
        return None if typed in {*END, "\x1a"} else _text(typed)

    def _key(self) -> str:
        key = str(self._console.getwch())
        if key in {"\x00", "\xe0"}:  # an arrow or a function key: its code follows
            self._console.getwch()
            return ""
        return key


def _text(typed: str) -> str:
    """Return what was typed without what is no text, its lines ended by a newline."""
    said = ESCAPE.sub("", typed).replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(c for c in said if c == "\n" or c.isprintable())


@contextmanager
def restored(number: int, again: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Leave the terminal as it was found, also where the process is ended or stopped meanwhile.

    Args:
        number: its file descriptor.
        again: called when the process goes on after a stop.
    """
    before = _modes(number)
    if before is None:
        yield
        return

    def end(signal_number: int, _frame: FrameType | None) -> None:
        _set_modes(number, before)
        _default(signal_number)

    def stop(signal_number: int, _frame: FrameType | None) -> None:
        now = _modes(number) or before
        end(signal_number, None)  # returns once the process goes on
        signal.signal(signal_number, stop)
        _set_modes(number, now)
        again()

    try:
        with _heard({signal.SIGTERM: end, signal.SIGQUIT: end, signal.SIGTSTP: stop}):
            yield
    finally:
        _set_modes(number, before)


def _set_modes(number: int, modes: list[Any]) -> None:
    termios = import_module("termios")
    with suppress(OSError, termios.error):  # the terminal is gone
        # What was typed ahead is kept: nothing is flushed.
        termios.tcsetattr(number, termios.TCSANOW, modes)


def _modes(number: int) -> list[Any] | None:
    """Return the modes of the terminal; None where it is none, or of another kind."""
    try:
        termios = import_module("termios")
    except ImportError:
        return None
    try:
        modes: list[Any] = termios.tcgetattr(number)
    except (OSError, termios.error):
        return None
    return modes


def _one_by_one(number: int) -> None:
    """Let each key be read as it is pressed, unseen."""
    before = _modes(number)
    if before is None:  # gone: reading says so
        return
    termios = import_module("termios")
    wanted = [*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]
    wanted[6] = [*before[6]]
    wanted[6][termios.VMIN], wanted[6][termios.VTIME] = 1, 0
    _set_modes(number, wanted)


@contextmanager
def _heard(handlers: dict[int, Callable[[int, FrameType | None], None]]) -> Iterator[None]:
    """Handle signals that nobody else does, as far as this thread may."""
    kept = {}
    for number, handler in handlers.items():
        if signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):  # not the main thread
                kept[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler_before in kept.items():
            signal.signal(number, handler_before)


def _default(number: int) -> None:
    """Let a signal do to this process what it does by itself."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
