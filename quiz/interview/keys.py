"""Keys as they are pressed, without Enter; or lines, where nobody sits at a terminal."""

import codecs
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol, TextIO, final

from quiz.interview.second_screen import BACKSPACE, ENTER, ESCAPE
from quiz.output.typing_in import line_of

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

END = ""
# Ctrl-D, which nothing reads as the end of input while keys are read one by one.
CLOSING = "\x04"
SAME = {"\r": ENTER, "\b": BACKSPACE}
# As shells tell that a signal ended a process.
SIGNALLED = 128
BYTES = 1024
LOOK = 0.02
OFF = b"\0"


class Keys(Protocol):
    """Where keys come from."""

    def read(self, seconds: float) -> str | None:
        """Return the next key, None where none came in so many seconds, "" at the end of input."""


@contextmanager
def opened(stream: TextIO) -> Iterator[Keys]:
    """Give the keys of a terminal, which is as it was behind them, or the lines of a pipe."""
    if not stream.isatty():
        yield Lines(stream)
    elif sys.platform == "win32":
        yield WindowsKeys()
    else:
        number = stream.fileno()
        before = termios.tcgetattr(number)
        ended = signal.signal(signal.SIGTERM, _end)
        try:
            _take(number)
            yield TerminalKeys(number)
        finally:
            termios.tcsetattr(number, termios.TCSADRAIN, before)
            signal.signal(signal.SIGTERM, ended)


def _end(number: int, _frame: FrameType | None) -> None:
    """End as a signal wants it, once the terminal and its screen are as they were."""
    sys.exit(SIGNALLED + number)


@final
class Lines:
    """Lines of a pipe as keys: one a line; what stands behind "t" or "a" ends with it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: list[str] = []

    def read(self, seconds: float) -> str | None:
        """Return the next key, for which it waits as long as it takes; "" at the end of input.

        Raises:
            InputError: the pipe cannot be read.
        """
        del seconds
        while not self._waiting:
            line = line_of(self._stream)
            if line is None:
                return END
            self._waiting = _keys_of(line)
        return self._waiting.pop(0)


def _keys_of(line: str) -> list[str]:
    said = line.strip()
    if said[:2].lower() in {"t ", "a "}:
        return [said[0].lower(), *said[2:].strip(), ENTER]
    return [said] if said else [line[:1] or ENTER]


if sys.platform == "win32":

    @final
    class WindowsKeys:
        """The keys of a console on Windows."""

        def read(self, seconds: float) -> str | None:
            """Return the next key; None where none came in so many seconds."""
            until = time.monotonic() + seconds
            while not msvcrt.kbhit():
                if time.monotonic() >= until:
                    return None
                time.sleep(LOOK)
            key = msvcrt.getwch()
            if key in {"\x00", "\xe0"}:  # an arrow or the like: a second code follows
                msvcrt.getwch()
                return None
            if key == "\x03":
                raise KeyboardInterrupt
            return END if key == CLOSING else SAME.get(key, key)

else:

    def _take(number: int) -> None:
        """Let keys come one by one; Ctrl-C interrupts, and Ctrl-Z does not leave the screen."""
        tty.setcbreak(number, termios.TCSADRAIN)
        modes = termios.tcgetattr(number)
        modes[6][termios.VSUSP] = OFF
        termios.tcsetattr(number, termios.TCSADRAIN, modes)

    @final
    class TerminalKeys:
        """The keys of a terminal that hands them on one by one."""

        def __init__(self, number: int) -> None:
            self._number = number
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._waiting: list[str] = []

        def read(self, seconds: float) -> str | None:
            """Return the next key; None where none came in so many seconds; "" at the end."""
            if not self._waiting:
                if not select.select([self._number], [], [], max(seconds, 0.0))[0]:
                    return None
                try:
                    data = os.read(self._number, BYTES)
                except OSError:  # the terminal is gone
                    return END
                if not data:
                    return END
                self._waiting = self._keys(self._decoder.decode(data))
            return self._waiting.pop(0) if self._waiting else None

        @staticmethod
        def _keys(text: str) -> list[str]:
            if text.startswith(ESCAPE) and len(text) > 1:
                return []  # an arrow or the like, which comes at once
            return [END if one == CLOSING else SAME.get(one, one) for one in text]
