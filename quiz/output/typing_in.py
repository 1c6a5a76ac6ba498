"""Lines as they are typed at a terminal or come through a pipe."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import TextIO, final

from rich.console import Console

from engine.errors import Fault, InputError

LONGEST_LINE = 1000


@final
class Lines:
    """Where typed lines come from.

    Args:
        console: where the prompt stands.
        stream: standard input, or what stands in for it.
    """

    def __init__(self, console: Console, stream: TextIO) -> None:
        self._console = console
        self._stream = stream
        self.interactive = stream.isatty() and console.is_terminal
        if self.interactive:
            with suppress(ImportError):
                import_module("readline")  # lets input() edit the line

    def read(self, prompt: str = "> ") -> str | None:
        """Return the next line, cut where it is absurdly long; None at the end of input.

        Raises:
            InputError: standard input cannot be read.
        """
        if not self.interactive:
            return self._piped()
        sys.stdout.flush()
        try:
            return input(prompt)[: LONGEST_LINE + 1]
        except EOFError:
            self._console.print()
            return None

    def _piped(self) -> str | None:
        try:
            line = self._stream.readline(LONGEST_LINE + 1)
            piece = line
            while piece and not piece.endswith("\n"):
                piece = self._stream.readline(LONGEST_LINE)
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            raise InputError(Fault("standard input", what)) from error
        return line.rstrip("\r\n") if line else None
