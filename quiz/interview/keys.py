"""Keys as they are pressed, without Enter; or lines, where nobody sits at a terminal."""

import codecs
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol, TextIO, final

from quiz.interview.pressing import BACKSPACE, CLOSING, END, ENTER, ESCAPE, Text
from quiz.output.keys import TOGETHER, dumb
from quiz.output.typing_in import line_of

if sys.platform == "win32":
    import msvcrt
else:
    import select
    import termios
    import tty

SAME = {"\r": ENTER, "\b": BACKSPACE}
# As shells tell that a signal ended a process.
SIGNALLED = 128
BYTES = 4096
LOOK = 0.02
OFF = b"\0"
# A terminal that is asked to tells pasted text apart.
ASK_PASTE, NO_PASTE = b"\x1b[?2004h", b"\x1b[?2004l"
PASTE, PASTED = "\x1b[200~", "\x1b[201~"
# Arrows, function keys and the like, and the beginning of one.
NO_KEY = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O\x1b])", re.DOTALL)
BEGUN = re.compile(r"\x1b\[[0-?]*[ -/]*\Z")


class Keys(Protocol):
    """Where keys come from."""

    def read(self, seconds: float, *, typing: bool) -> str | Text | None:
        """Return the next key, None where none came in so many seconds, "" at the end of input.

        Args:
            seconds: that are waited for it.
            typing: whether a note or an answer is being typed, for which a line may come whole.
        """


@contextmanager
def opened(stream: TextIO, *, in_lines: bool = False) -> Iterator[Keys]:
    """Give the keys of a terminal, which is as it was behind them, or the lines of a pipe.

    Args:
        stream: standard input.
        in_lines: whether notes and answers are typed as a line that the terminal shows.
    """
    if not stream.isatty():
        yield Lines(stream)
    elif sys.platform == "win32":
        yield WindowsKeys(stream, in_lines=in_lines)
    else:
        keys = TerminalKeys(stream.fileno(), in_lines=in_lines)
        with _ended_by_signals():
            try:
                keys.take()
                yield keys
            finally:
                keys.give_back()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let what ends a process end it as an exception; what is ignored stays so."""
    names = ("SIGTERM", "SIGHUP", "SIGQUIT")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    taken = [one for one in numbers if signal.getsignal(one) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    """End as a signal wants it, once the terminal and its screen are as they were."""
    sys.exit(SIGNALLED + number)


@final
class Lines:
    """Lines of a pipe as keys: one a line; a note or an answer stands behind its key, or next."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._behind: str | None = None

    def read(self, seconds: float, *, typing: bool) -> str | Text | None:
        """Return the next key, for which it waits as long as it takes; "" at the end of input.

        Raises:
            InputError: the pipe cannot be read.
        """
        del seconds
        words, self._behind = self._behind, None
        if words is not None and typing:  # else the key did nothing, and said why
            return Text(words=words, ends=True)
        line = line_of(self._stream)
        if line is None:
            return END
        said = line.strip()
        if typing:
            return Text(words=said, ends=True)
        if said[:2].lower() in {"t ", "a "}:
            self._behind = said[2:].strip()
            return said[0].lower()
        return said or line[:1] or ENTER


if sys.platform == "win32":

    @final
    class WindowsKeys:
        """The keys of a console on Windows."""

        def __init__(self, stream: TextIO, *, in_lines: bool) -> None:
            self._stream = stream
            self._in_lines = in_lines

        def read(self, seconds: float, *, typing: bool) -> str | Text | None:
            """Return the next key; None where none came in so many seconds."""
            if typing and self._in_lines:
                line = line_of(self._stream)
                return CLOSING if line is None else Text(words=line, ends=True)
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
            return SAME.get(key, key)

else:

    def _erased(typed: str) -> str:
        """Return what is typed without what was rubbed out before the terminal took lines."""
        words: list[str] = []
        for one in typed:
            if SAME.get(one, one) != BACKSPACE:
                words.append(one)
            elif words:
                words.pop()
        return "".join(words)

    @final
    class TerminalKeys:
        """The keys of a terminal that hands them on one by one.

        Args:
            number: its file descriptor.
            in_lines: whether notes and answers are typed as a line that the terminal shows.
        """

        def __init__(self, number: int, *, in_lines: bool) -> None:
            self._number = number
            self._in_lines = in_lines
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._waiting: list[str | Text] = []
            self._begun = ""
            self._pasted: str | None = None
            self._before: list[Any] | None = None

        def take(self) -> None:
            """Let keys come one by one; Ctrl-C interrupts, Ctrl-Z does not leave the screen."""
            with suppress(termios.error):
                self._before = self._before or termios.tcgetattr(self._number)
                tty.setcbreak(self._number, termios.TCSADRAIN)
                modes = termios.tcgetattr(self._number)
                modes[6][termios.VSUSP] = OFF
                termios.tcsetattr(self._number, termios.TCSADRAIN, modes)
            self._ask(ASK_PASTE)

        def give_back(self) -> None:
            """Leave the terminal as it was, as far as it is still there."""
            self._ask(NO_PASTE)
            with suppress(termios.error):
                if self._before is not None:
                    termios.tcsetattr(self._number, termios.TCSADRAIN, self._before)

        def _ask(self, how: bytes) -> None:
            if not dumb():
                self._write(how)

        def _write(self, data: bytes) -> None:
            with suppress(OSError):
                os.write(self._number, data)

        def read(self, seconds: float, *, typing: bool) -> str | Text | None:
            """Return the next key; None where none came in so many seconds; "" at the end."""
            if not self._waiting and typing and self._in_lines:
                return self._line()
            if not self._waiting:
                if not self._comes(seconds):
                    return None
                self._waiting = self._keys(self._piece())
            return self._waiting.pop(0) if self._waiting else None

        def _comes(self, seconds: float) -> bool:
            return bool(select.select([self._number], [], [], max(seconds, 0.0))[0])

        def _piece(self) -> bytes:
            try:
                return os.read(self._number, BYTES)
            except OSError:  # the terminal is gone
                return b""

        def _line(self) -> str | Text:
            """Return a line that is typed as the terminal shows it, and all that is pasted to it.

            An escape in it drops it, as the key does.
            """
            self.give_back()
            typed = piece = self._piece()
            while piece and not any(end in typed for end in (b"\n", CLOSING.encode())):
                piece = self._piece()
                typed += piece
            self.take()
            while piece and self._comes(TOGETHER) and (piece := self._piece()):
                typed += piece
            if not typed.endswith(b"\n"):  # the terminal's cursor is behind it still
                self._write(b"\n")
            words = _erased(typed.decode("utf-8", "replace"))
            return ESCAPE if ESCAPE in words else Text(words=words, ends=True)

        def _keys(self, data: bytes) -> list[str | Text]:
            if not data:
                begun, self._pasted = self._pasted, None
                return [END] if begun is None else [Text(words=begun), END]
            text, self._begun = self._begun + self._decoder.decode(data), ""
            keys: list[str | Text] = []
            while text:
                if self._pasted is not None:
                    text = self._paste(text, keys)
                    continue
                typed, begins, text = text.partition(PASTE)
                if not begins and (cut := BEGUN.search(typed)):
                    typed, self._begun = typed[: cut.start()], cut[0]
                keys += [SAME.get(one, one) for one in NO_KEY.sub("", typed)]
                self._pasted = "" if begins else None
            return keys

        def _paste(self, text: str, keys: list[str | Text]) -> str:
            """Put what is pasted to the keys once it ends, and return the rest of a text."""
            words, ends, rest = (f"{self._pasted}{text}").partition(PASTED)
            self._pasted = None if ends else words
            if ends:
                keys.append(Text(words=words.replace("\r\n", "\n").replace("\r", "\n")))
            return rest
