import builtins
import io
import os
import types

import pytest
from rich.console import Console

from quiz.output.keys import PosixKeys, WindowsKeys, keys_of
from quiz.output.typing_in import Lines

UP = "\x1b[A"


class Keyboard:
    """Keys that give what they were made with, piece by piece."""

    def __init__(self, *pieces):
        self.pieces = list(pieces)

    def wait(self):
        return self.pieces.pop(0) if self.pieces else None


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def lines(monkeypatch):
    """Make `Lines` over pieces from a keyboard, where typed lines come one by one."""
    monkeypatch.setenv("TERM", "dumb")  # so that no line editor is looked for

    def make(*pieces, typed=()):
        rest = list(typed)
        monkeypatch.setattr(
            builtins, "input", lambda prompt: prompts.append(prompt) or rest.pop(0)
        )
        console = Console(file=io.StringIO(), force_terminal=True)
        return Lines(console, Terminal(), keys=Keyboard(*pieces))

    prompts = make.prompts = []
    return make


@pytest.fixture
def terminal():
    """Both ends of a pseudo-terminal."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("w", "w"),
        ("\r", "\n"),
        ("40 GB\n", "40 GB\n"),
        ("é", "é"),
        (UP, ""),
        (f"4{UP}0", "40"),
        ("a\tb\x07", "a b"),
        ("\x04", None),
    ],
)
def test_a_key_is_read_without_enter_and_what_comes_with_it_too(terminal, typed, read):
    os.write(terminal[0], typed.encode())
    assert PosixKeys(terminal[1]).wait() == read


def test_what_was_typed_ahead_is_kept_and_the_terminal_left_as_it_was(terminal):
    termios = pytest.importorskip("termios")
    before = termios.tcgetattr(terminal[1])
    os.write(terminal[0], b"begun")
    assert PosixKeys(terminal[1]).wait() == "begun"
    assert termios.tcgetattr(terminal[1]) == before


def test_no_keys_are_read_from_a_pipe_and_at_a_dumb_terminal(monkeypatch):
    assert keys_of(io.StringIO()) is None
    monkeypatch.setenv("TERM", "dumb")
    assert keys_of(Terminal()) is None


@pytest.mark.parametrize(
    ("pressed", "read"),
    [("w", "w"), ("\r", "\n"), ("\xe0H", ""), ("ab\r", "ab\n"), ("\x1a", None)],
)
def test_a_key_of_a_windows_console(pressed, read):
    rest = list(pressed)
    console = types.SimpleNamespace(getwch=lambda: rest.pop(0), kbhit=lambda: bool(rest))
    assert WindowsKeys(console).wait() == read


def test_ctrl_c_of_a_windows_console_is_an_interrupt():
    console = types.SimpleNamespace(getwch=lambda: "\x03", kbhit=lambda: False)
    with pytest.raises(KeyboardInterrupt):
        WindowsKeys(console).wait()


@pytest.mark.parametrize(
    ("pieces", "given"),
    [(("w",), "w"), (("U",), "u"), (("\n",), ""), ((" ",), ""), (("", "w"), "w")],
)
def test_a_key_is_given_at_once(lines, pieces, given):
    assert lines(*pieces).key("wu") == given


def test_the_end_of_input_is_none(lines):
    assert lines().key("wu") is None


def test_another_key_begins_a_line_that_enter_ends(lines):
    assert lines("4", typed=["0 GB"]).key("wu") == "40 GB"
    assert lines.prompts == ["> 4"]


def test_pasted_lines_come_one_by_one_in_their_order(lines):
    pasted = lines("w\n\n40 GB\nrest", typed=["!"])
    assert [pasted.key("wu"), pasted.key("wu"), pasted.read(), pasted.read()] == [
        "w", "", "40 GB", "rest!",
    ]  # fmt: skip
    assert lines.prompts == ["> rest"]


def test_a_pasted_word_is_no_key(lines):
    assert lines("wu", typed=["!"]).key("wu") == "wu!"
