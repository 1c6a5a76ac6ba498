"""Lines as they are typed at a terminal or come through a pipe, and single keys."""

import sys
from collections import deque
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TextIO, final

from rich.console import Console

from engine.errors import Fault, InputError
from quiz.output.keys import Keys, dumb, keys_of, restored
from quiz.output.plain import visible
from quiz.output.screen import is_plain

LONGEST_LINE = 1000
PROMPT, PLAIN_PROMPT = "> ", "type: "


@final
class Lines:
    """Where typed lines come from.

    Args:
        console: where the prompt stands.
        stream: standard input, or what stands in for it.
        keys: what reads single keys; else the terminal's, where it can.

    Attributes:
        interactive: whether a person sees each line before typing the next.
    """

    def __init__(self, console: Console, stream: TextIO, *, keys: Keys | None = None) -> None:
        self._console = console
        self._stream = stream
        self.interactive = stream.isatty() and console.is_terminal
        able = self.interactive and not is_plain(console) and not dumb()
        self._editor = _line_editor() if able else None
        self._keys = keys or (keys_of(stream) if able else None)
        self._ahead: deque[str] = deque()
        # What stands at the next prompts, in this order; the last is a line that was not ended.
        self._offered: deque[str] = deque()
        self._begun = ""

    @property
    def _usual(self) -> str:
        return PLAIN_PROMPT if is_plain(self._console) else PROMPT

    def read(self, prompt: str = "") -> str | None:
        """Return the next line, cut where it is absurdly long; None at the end of input.

        Args:
            prompt: what stands before it; else what always does.

        Raises:
            InputError: standard input cannot be read.
        """
        sys.stdout.flush()
        if not self.interactive:
            return line_of(self._stream)
        prompt = prompt or self._usual
        if self._ahead and not self._offered:
            return self._typed_ahead(prompt)
        try:
            return self._edited(prompt)[: LONGEST_LINE + 1]
        except (EOFError, OSError):  # Ctrl-D, or the terminal is gone
            self._console.print()
            return None

    def key(self, keys: Collection[str], prompt: str = "") -> str | None:
        """Return the one of `keys` that is pressed, "" for Enter and space; None at the end.

        Anything else begins a line, which Enter ends; so does what was pasted or typed ahead.
        Where single keys cannot be read, a line is.

        Args:
            keys: small letters and signs.
            prompt: as of `read`.

        Raises:
            InputError: standard input cannot be read.
        """
        if self._keys is None:
            return self.read(prompt)
        if self._ahead:
            return self._typed_ahead(prompt)
        sys.stdout.flush()
        while (typed := self._keys.wait()) is not None:
            if typed in {"\n", " "}:
                return ""
            if len(typed) == 1 and typed.lower() in keys:
                return typed.lower()
            if typed:
                *lines, self._begun = f"{self._begun}{typed}".split("\n")
                self._ahead.extend(lines)
                return self._typed_ahead(prompt) if self._ahead else self.read(prompt)
        self._console.print()
        return None

    def offer(self, line: str) -> bool:
        """Let the next prompt begin with `line`, to be changed or sent; False where it cannot.

        Of several each has a prompt, and so has what was begun behind them.
        """
        if self._editor is None:
            return False
        self._offered.append(line)
        return True

    def _typed_ahead(self, prompt: str) -> str:
        """Return a line that came before it was asked for, shown as if it came now."""
        line = self._ahead.popleft()
        prompt = prompt or self._usual
        self._console.out(f"{prompt}{visible(line)}", highlight=False)
        if self._editor is not None and line.strip():
            self._editor.add_history(line)
        return line

    def _edited(self, prompt: str) -> str:
        """Return a line that begins with what was begun."""
        if self._offered:
            begun = self._offered.popleft()
        else:
            begun, self._begun = self._begun, ""
        if self._editor is None:
            with self._guarded():
                return begun + input(prompt + begun)
        self._editor.set_startup_hook(partial(self._editor.insert_text, begun))
        try:
            with self._guarded(prompt):
                return input(prompt)
        finally:
            self._editor.set_startup_hook()

    def _shown_again(self, prompt: str) -> None:
        if self._editor is not None:
            sys.stdout.write(f"{prompt}{self._editor.get_line_buffer()}")
            sys.stdout.flush()

    def _guarded(self, prompt: str = "") -> AbstractContextManager[None]:
        """Leave the terminal as it was found; once a stop is over, show what is being typed."""
        try:
            return restored(self._stream.fileno(), partial(self._shown_again, prompt))
        except (OSError, ValueError):  # a stand-in has no number
            return nullcontext()


def line_of(stream: TextIO) -> str | None:
    """Return the next line of a pipe, cut where it is absurdly long; None at the end of input.

    Raises:
        InputError: it cannot be read.
    """
    try:
        line = stream.readline(LONGEST_LINE + 1)
        piece = line
        while piece and not piece.endswith("\n"):
            piece = stream.readline(LONGEST_LINE)
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise InputError(Fault("standard input", what)) from error
    # Some editors begin a file with a mark of its bytes' order.
    return line.rstrip("\r\n").removeprefix("\ufeff") if line else None


def _line_editor() -> ModuleType | None:
    """Return what lets input() edit a line and keep those before; None where there is none."""
    with suppress(ImportError):
        return import_module("readline")
    return None
