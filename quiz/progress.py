"""How far long work has come: one line on a terminal's stderr, gone at the end."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

# Seconds: nothing is shown before, and then not more often.
PATIENCE = 1.0
PACE = 0.1
ERASE = "\r\x1b[K"

Progress = Callable[[int], None]


@contextmanager
def progress(
    total: int, stream: TextIO | None, clock: Callable[[], float] = monotonic
) -> Iterator[Progress]:
    """Give a function to call with how many layers of `total` are done.

    Args:
        total: layers.
        stream: where to show it; None for nowhere.
        clock: seconds.
    """
    line = _Line(total, stream, clock)
    try:
        yield line.tell
    finally:
        line.erase()


def terminal() -> TextIO | None:
    """Return stderr where it is a terminal that can erase a line."""
    shown = sys.stderr.isatty() and os.environ.get("TERM") not in {"dumb", ""}
    return sys.stderr if shown else None


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
        self._shown = True
        self._write(f"{ERASE}traced {min(done, self._total):,} of {self._total:,} layers")

    def erase(self) -> None:
        if self._shown:
            self._write(ERASE)
            self._shown = False

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()
