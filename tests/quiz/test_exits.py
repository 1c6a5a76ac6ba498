import os
import sys

import pytest

from engine.errors import Fault, InputError
from quiz.exits import faults

LONG = Fault(
    "this interview",
    "is open in another memquiz",
    "go on there, or begin a new one: --no-save --new",
)
LISTED = Fault("--replay", "there is no interview 9", "the last:", below=("1  mid", "2  \x1b[2J"))


@pytest.fixture
def terminal(monkeypatch):
    """Standard error at a terminal of so many columns."""
    termios = pytest.importorskip("termios", reason="pseudo-terminals are POSIX's")
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as stream:

        def of(columns):
            termios.tcsetwinsize(theirs, (24, columns))
            monkeypatch.setattr(sys, "stderr", stream)

        yield of
    os.close(ours)


@pytest.mark.parametrize("columns", range(40, 120, 7))
def test_a_terminal_gets_a_message_with_every_option_whole(terminal, columns):
    terminal(columns)
    head, *lines = faults(InputError(LONG)).splitlines()
    assert head == "memquiz: 1 thing to mend"
    assert all(len(line) <= columns for line in lines)
    assert " ".join(line.strip() for line in lines) == str(LONG)
    assert sum(line.count("--no-save") + line.count("--new") for line in lines) == 2
    assert all(line.startswith("    ") for line in lines[1:])


def test_a_pipe_and_a_terminal_without_a_size_get_a_line_a_fault(terminal):
    terminal(0)
    assert faults(InputError(LONG)).splitlines()[1:] == [f"  {LONG}"]


def test_what_there_is_to_choose_from_stands_below_a_line_each_and_moves_no_cursor():
    assert faults(InputError(LISTED)).splitlines()[1:] == [
        "  --replay: there is no interview 9; the last:",
        "    1  mid",
        "    2  ·[2J",
    ]
