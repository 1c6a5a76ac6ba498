import fcntl
import os
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from contextlib import closing, suppress

import pytest

from problems.registry import from_id
from quiz.history.database import FILE

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")
termios = pytest.importorskip("termios")

# What stands last where a line is waited for, and where a key may be.
PROMPT = re.compile(r"(?:> |type: )$")
WAITING = re.compile(r"(?:> | stop\r\n| wrong\r\n)$")
STYLES = re.compile(r"\x1b\[[\d;]*m")

# Take the terminal as one's own, so that Ctrl-C reaches it, then become memquiz.
AT_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job inherits that it is ignored
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[1:]])
"""


class Typist:
    """A person at a terminal: types when the program waits, and reads on until it does again."""

    def __init__(self, environment, *arguments):
        self.page = ""
        self.gone = False
        self._screen, self.terminal = pty.openpty()
        self._ends = [self._screen, self.terminal]
        self._process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, *arguments],
            stdin=self.terminal,
            stdout=self.terminal,
            stderr=self.terminal,
            start_new_session=True,
            env={"TERM": "xterm"} | environment,
        )

    def read(self, until=WAITING, seconds=30):
        seen, end = "", time.monotonic() + seconds
        while not until.search(STYLES.sub("", seen)) and time.monotonic() < end:
            if self._process.poll() is not None:
                seconds = 0
            if not select.select([self._screen], [], [], min(seconds, 0.1))[0]:
                if not seconds:
                    self.gone = True
                    break
                continue
            seen += os.read(self._screen, 4096).decode(errors="replace")
        self.page += seen
        return seen

    def send(self, keys):
        os.write(self._screen, keys.encode())

    def type(self, keys, until=WAITING):
        self.send(keys)
        return self.read(until)

    def leave(self, keys):
        """Type `keys`, again where the line editor was not ready for them; the exit code."""
        for _ in range(20):
            if not self.gone:
                self.send(keys)
                self.read(until=re.compile(r"\0"), seconds=1)
        self.hang_up()
        return self._process.wait(30)

    def hang_up(self):
        """Close the terminal."""
        while self._ends:
            os.close(self._ends.pop())
        return self._process.wait(30)

    def resize(self, columns):
        """Change the size of the terminal."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def wait_for(self, condition, seconds=10):
        """Wait until `condition` holds."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.01)

    def end(self, number):
        """Send a signal, again where the line editor was not ready for it; the exit code."""
        for _ in range(20):
            self._process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(1)
        return None


@pytest.fixture
def start(environment):
    """Begin a practice at a terminal that is closed in the end."""
    begun = []

    def begin(*arguments, **changes):
        begun.append(Typist(environment | changes, "practice", *arguments))
        return begun[-1]

    yield begin
    for person in begun:
        person.hang_up()


@pytest.fixture
def typist(start):
    return start("--kind", "model-states", "--seed", "5", "--count", "2")


def answers(data, query="SELECT typed FROM attempts WHERE undone IS NULL ORDER BY id"):
    with closing(sqlite3.connect(data / FILE)) as connection:
        return connection.execute(query).fetchall()


def test_a_whole_set_at_a_terminal(typist):
    asked = typist.read()
    assert "1/2 · model states · mid" in asked
    assert "h hint · r reading · s skip · w solution · q stop · ? help" in asked
    assert "hint 1/3: " in typist.type("h\n")
    assert "Not counted: " in typist.type("bananas\n")
    assert "would be read as 37 GB" in typist.type("r 37 GB\n")
    marked = typist.type("1 GB\n")
    assert "read as 1 GB" in marked
    assert "enter next · w why · u undo · q stop" in marked
    assert "1/2 · " in typist.type("u")
    typist.type("2 GB\n")
    explained = typist.type("w")
    assert "on paper:" in explained
    assert "enter next · w why · q stop" in explained
    assert "That answer stands" in typist.type("u")
    assert "2/2 · " in typist.type(" ")
    assert "enter score · " in typist.type("skip\n")
    assert typist.leave("\n") == 0
    assert "Score 0 of 2" in typist.page


def test_a_mark_of_ones_own_is_two_keys(start, data):
    person = start("--problem", "claim@7")
    person.read()
    assert "o your own mark" in person.type("true\n")
    assert "c correct · p partial · w wrong" in person.type("o")
    assert "Your own mark, partial, counts now." in person.type("p")
    assert person.leave("q") == 0
    assert answers(data, "SELECT typed, own FROM attempts") == [("true", "partial")]


def test_a_mark_of_ones_own_is_two_lines_where_enter_follows_each_key(start, data):
    person, asked = start("--plain", "--problem", "claim@7"), re.compile(r"type: $")
    person.read(asked)
    assert "o your own mark" in person.type("true\n", asked)
    assert "keys: c correct, p partial, w wrong" in person.type("o\n", asked)
    assert "Your own mark, wrong, counts now." in person.type("w\n", asked)
    assert person.leave("q\n") == 0
    assert answers(data, "SELECT typed, own FROM attempts") == [("true", "wrong")]


def test_a_word_where_a_number_is_asked_keeps_the_verdict(start, data):
    person = start("--problem", "fits@3")
    person.read()
    assert "And the number that proves it?" in person.type("yes\n")
    assert "read as yes, without a number" in person.type("no\n")
    assert person.leave("\n") == 0
    assert answers(data, "SELECT typed, parsed FROM attempts") == [
        ("yes", '{"yes": true, "number": null}')
    ]


def test_a_pasted_line_is_kept_for_the_next_question_and_no_key(typist, data):
    typist.read()
    pasted = typist.type("1 GB\n2 quarks GB\n", until=re.compile(r"next prompt\.[^>]*stop\r\n$"))
    assert pasted.count("> 2 quarks GB") == 1
    again = typist.type("\n", until=re.compile(r"2 quarks GB$"))
    assert "2/2 · " in again
    assert "read as 2 GB" in typist.type("\x152 GB\n")
    assert answers(data) == [("1 GB",), ("2 GB",)]


def test_pasted_lines_stand_at_the_next_prompts_one_after_the_other(start, data):
    typist = start("--kind", "model-states", "--seed", "5", "--count", "4")
    typist.read()
    typist.type(
        "1 GB\n2 GB\n3 GB\n4 G", until=re.compile(r"(next prompt\.[^>]*stop\r\n.*){2}$", re.DOTALL)
    )
    for number, more in ((2, ""), (3, ""), (4, "B")):
        asked = typist.type("\n", until=re.compile(rf"{number} GB?$"))
        assert f"{number}/4 · " in asked
        typist.type(f"{more}\n")
    assert answers(data) == [(f"{number} GB",) for number in range(1, 5)]


@pytest.mark.parametrize("columns", ["20", "30", "40"])
def test_a_narrow_terminal_gets_every_word_whole(start, columns):
    person = start("--no-save", "--problem", "zero-states@7", COLUMNS=columns)
    page = STYLES.sub("", person.read())
    assert max(map(len, page.splitlines())) <= int(columns)
    words = from_id("zero-states@7").prompt.split()
    at = page.split().index(words[0])
    assert page.split()[at : at + len(words)] == words


def test_a_resized_terminal_is_written_to_in_its_new_width(start, environment):
    del environment["COLUMNS"]
    person = start("--no-save", "--problem", "zero-states@7")
    person.resize(60)
    wide = STYLES.sub("", person.read())
    person.resize(36)
    narrow = STYLES.sub("", person.type("37 GB\n"))
    assert 36 < max(map(len, wide.splitlines())) <= 60
    assert max(map(len, narrow.splitlines()[1:])) <= 36


@pytest.mark.parametrize(("typed", "code"), [("q\n", 0), ("\x04", 0), ("\x03", 130)])
def test_leaving_at_a_terminal_says_where_it_stopped(typist, typed, code):
    typist.read()
    assert typist.leave(typed) == code
    assert "Stopped at question 1 of 2." in typist.page
    assert "Traceback" not in typist.page


def test_a_set_goes_on_after_a_key_an_interrupt_and_a_closed_terminal(start, data):
    first = start("--kind", "model-states", "--seed", "5", "--count", "4")
    first.read()
    first.type("1 GB\n")
    assert first.leave("q") == 0
    second = start()
    assert "Going on: 1 of 4 answered." in second.read()
    second.type("2 GB\n")
    assert second.leave("\x03") == 130
    third = start()
    assert "Going on: 2 of 4 answered." in third.read()
    third.type("3 GB\n")
    third.hang_up()
    fourth = start()
    assert "Going on: 3 of 4 answered." in fourth.read()
    assert answers(data) == [("1 GB",), ("2 GB",), ("3 GB",)]


@pytest.mark.parametrize("typed", ["", "1 GB\n"], ids=["at the prompt", "at a key"])
def test_a_terminal_is_left_as_it_was_found_also_by_a_signal(typist, typed):
    before = termios.tcgetattr(typist.terminal)
    typist.read()
    if typed:
        typist.type(typed)
    typist.wait_for(lambda: termios.tcgetattr(typist.terminal) != before)
    assert typist.end(signal.SIGTERM) == -signal.SIGTERM
    assert termios.tcgetattr(typist.terminal) == before


def test_colour_is_used_at_a_terminal_and_off_under_no_color(start):
    for changes, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        person = start("--no-save", "--kind", "model-states", "--count", "1", **changes)
        person.read()
        page = person.type("1 kB\n")
        assert ("\x1b[97;41mNot quite" in page) is coloured
        assert "Not quite: " in STYLES.sub("", page)


def test_plain_text_at_a_terminal_is_ascii_and_moves_no_cursor(start):
    person = start("--plain", "--no-save", "--problem", "zero-states@7")
    asked = person.read(PROMPT)
    assert "question 1 of 1\r\ntopic: model states\r\nlevel: " in asked
    assert "keys: h hint, r reading, s skip, w solution, q stop, ? help" in asked
    assert "keys: enter score, w why, u undo, q stop" in person.type("37 GB\n", PROMPT)
    assert "on paper" in person.type("w\n", PROMPT)
    assert person.leave("\n") == 0
    assert "Score 0 of 1" in person.page
    assert person.page.isascii()
    assert not re.search(r"[\x1b\x08]|^> ", person.page, re.MULTILINE)


def test_a_dumb_terminal_takes_keys_as_lines_and_gets_no_escapes(start):
    person = start("--no-save", "--problem", "zero-states@7", TERM="dumb")
    person.read(PROMPT)
    assert person.type("37 GB\n", PROMPT).endswith("> ")
    assert "on paper" in person.type("w\n", PROMPT)
    assert person.leave("\n") == 0
    assert "\x1b" not in person.page
