"""How far long work has come: one line on a terminal's stderr, gone at the end."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from quiz.exits import is_first_rank

# Seconds: no layers are shown before, and then not more often.
PATIENCE = 1.0
PACE = 0.1
ERASE = "\r\x1b[K"

Progress = Callable[[int], None]


@contextmanager
def saying(what: str, stream: TextIO | None) -> Iterator[None]:
    """Show `what` is done inside; None for a stream that nobody watches."""
    with progress(0, stream, before=what):
        yield


@contextmanager
def progress(
    total: int, stream: TextIO | None, clock: Callable[[], float] = monotonic, *, before: str = ""
) -> Iterator[Progress]:
    """Give a function to call with how many layers of `total` are done.

    Args:
        total: layers.
        stream: where to show it; None for nowhere.
        clock: seconds.
        before: what is done before the first layer; shown at once.
    """
    line = _Line(total, stream, clock)
    line.say(before)
    try:
        yield line.tell
    finally:
        line.erase()


def terminal() -> TextIO | None:
    """Return stderr where it is a terminal that can erase a line."""
    shown = sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", ""}
    return sys.stderr if shown else None


def watched(*, quiet: bool) -> TextIO | None:
    """Return the stream on which someone sees how far this process has come; None where none.

    Args:
        quiet: whether an object is all that is wanted, which is for a person only on a terminal.
    """
    piped = quiet and not sys.stdout.isatty()
    return terminal() if is_first_rank() and not piped else None


class _Line:
    def __init__(self, total: int, stream: TextIO | None, clock: Callable[[], float]) -> None:
        self._total = total
        self._stream = stream
        self._clock = clock
        self._next = clock() + PATIENCE
        self._shown = False

    def tell(self, done: int) -> None:
        now = self._clock()
        if self._stream is None or now < self._next:
            return
        self._next = now + PACE
        self.say(f"traced {min(done, self._total):,} of {self._total:,} layers")

    def say(self, what: str) -> None:
        if self._stream is not None and what:
            self._shown = True
            self._write(f"{ERASE}{what}")

    def erase(self) -> None:
        if self._shown:
            self._write(ERASE)
            self._shown = False

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()
