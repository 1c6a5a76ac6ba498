import os
import re
import select
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from problems.registry import from_id
from quiz.history.database import FILE

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")

PROMPT = "> "

# Take the terminal as one's own, so that Ctrl-C reaches it, then become memquiz.
AT_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job inherits that it is ignored
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[1:]])
"""


class Typist:
    """A person at a terminal: types a line when the prompt stands, and reads on to the next."""

    def __init__(self, environment, *arguments):
        self.page = ""
        self.gone = False
        self._screen, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env=environment | {"TERM": "xterm"},
        )
        os.close(theirs)

    def read(self, until=PROMPT, seconds=30):
        seen, end = "", time.monotonic() + seconds
        while not seen.endswith(until) and time.monotonic() < end:
            if not select.select([self._screen], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self._screen, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                piece = ""
            if not piece:
                self.gone = True
                break
            seen += piece
        self.page += seen
        return seen

    def send(self, keys):
        os.write(self._screen, keys.encode())

    def type(self, line):
        self.send(line)
        return self.read()

    def leave(self, keys):
        """Type `keys`, again where the line editor was not ready for them; the exit code."""
        for _ in range(6):
            if not self.gone:
                self.send(keys)
                self.read(until="\0", seconds=5)
        os.close(self._screen)
        return self._process.wait(30)


@pytest.fixture
def typist(environment):
    return Typist(environment, "practice", "--kind", "model-states", "--seed", "5", "--count", "2")


def test_a_whole_set_at_a_terminal(typist):
    assert "1/2 · model states · mid" in typist.read()
    assert "hint 1/3: " in typist.type("h\n")
    assert "Not counted: " in typist.type("bananas\n")
    marked = typist.type("1 GB\n")
    assert "read as 1 GB" in marked
    assert "enter next · w why · u undo · q stop" in marked
    assert "1/2 · " in typist.type("u\n")
    typist.type("2 GB\n")
    assert "on paper:" in typist.type("w\n")
    assert "That answer stands" in typist.type("u\n")
    assert "2/2 · " in typist.type("\n")
    typist.type("skip\n")
    assert typist.leave("\n") == 0
    assert "Score 0 of 2" in typist.page


def test_a_word_where_a_number_is_asked_keeps_the_verdict(environment, data):
    person = Typist(environment, "practice", "--problem", "fits@3")
    person.read()
    assert "And the number that proves it?" in person.type("yes\n")
    assert "read as yes, without a number" in person.type("no\n")
    assert person.leave("\n") == 0
    with closing(sqlite3.connect(data / FILE)) as connection:
        kept = connection.execute("SELECT typed, parsed FROM attempts").fetchall()
    assert kept == [("yes", '{"yes": true, "number": null}')]


@pytest.mark.parametrize("columns", ["20", "30"])
def test_a_narrow_terminal_gets_every_word_whole(environment, columns):
    ids = ("--problem", "zero-states@7")
    person = Typist(environment | {"COLUMNS": columns}, "practice", "--no-save", *ids)
    page = re.sub(r"\x1b\[[\d;]*m", "", person.read())
    assert max(map(len, page.splitlines())) <= int(columns)
    assert page.replace(PROMPT, "").split()[-len(prompt_words()) :] == prompt_words()
    person.leave("q\n")


def prompt_words():
    return from_id("zero-states@7").prompt.split()


@pytest.mark.parametrize(("typed", "code"), [("q\n", 0), ("\x04", 0), ("\x03", 130)])
def test_leaving_at_a_terminal_says_where_it_stopped(typist, typed, code):
    typist.read()
    assert typist.leave(typed) == code
    assert "Stopped at question 1 of 2." in typist.page
    assert "Traceback" not in typist.page


def test_colour_is_used_at_a_terminal_and_off_under_no_color(environment):
    arguments = ("practice", "--no-save", "--kind", "model-states", "--count", "1")
    for changes, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        person = Typist(environment | changes, *arguments)
        person.read()
        page = person.type("1 kB\n")
        assert ("\x1b[31m" in page) is coloured
        person.leave("q\n")
