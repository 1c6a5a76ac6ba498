"""Ctrl-C while PyTorch runs."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from quiz.exits import Exit
from quiz.verify.progress import ERASE, terminal


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once, with nothing said.

    PyTorch calls back into Python from C, for example when a storage dies, and an exception that
    is raised there is printed and lost. Nothing is written to a file inside.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:  # as for a job in the background
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_signal: int, _frame: object) -> None:
    if terminal():
        # Not through the stream, which may be in the middle of a write.
        os.write(2, ERASE.encode())
    os._exit(Exit.INTERRUPTED)
