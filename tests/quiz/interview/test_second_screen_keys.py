"""What is typed, pasted or lost at the interviewer's terminal."""

import os
import signal
import sqlite3
from contextlib import closing, contextmanager

import pytest
from click.testing import CliRunner

from quiz.cli import memquiz as cli
from quiz.history.database import FILE
from quiz.interview.keys import opened
from quiz.interview.pressing import Text

pexpect = pytest.importorskip("pexpect", reason="pseudo-terminals are POSIX's")

HELD = ("interview", "--interviewer", "--level", "junior", "--minutes", "20", "--seed", "1")
PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


def pasted(text):
    return f"\x1b[200~{text}\x1b[201~"


def kept(data):
    with closing(sqlite3.connect(data / FILE)) as connection:
        return [row[0] for row in connection.execute("SELECT typed FROM interview_lines")]


@pytest.mark.parametrize(
    ("typed", "lines"),
    [("t\n", ["q"]), ("t\nhello\n", ["t hello", "q"]), ("t hello", ["t hello", "q"]),
     ("n\nn\na\n16 bytes\nf\nt\nn\nq\n", ["n", "n", "a 16 bytes", "f", "t n", "q"]),
     ("a 16 bytes\nf\n", ["f", "q"])],
)  # fmt: skip
def test_lines_of_a_pipe_end_the_text_they_are_and_the_interview_with_them(data, typed, lines):
    environment = {"MEMQUIZ_DATA": str(data), "COLUMNS": "80"}
    done = CliRunner().invoke(cli, HELD, input=typed, env=environment)
    assert (done.exit_code, done.stderr) == (0, "")
    assert kept(data) == lines


@contextmanager
def keyboard(monkeypatch, *, in_lines=False):
    """The keys of a terminal, and the number of its other end."""
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as stream, opened(stream, in_lines=in_lines) as keys:
        yield keys, ours


def read(keys, count, *, typing=False):
    return [keys.read(1.0, typing=typing) for _ in range(count)]


def test_a_paste_is_one_text_wherever_it_is_cut_and_arrows_are_no_keys(monkeypatch):
    with keyboard(monkeypatch) as (keys, ours):
        for piece in (b"f\x1b[A\r", b"\x1b[20", b"0~n\xc3", b"\xa9\rq\x1b[20", b"1~b\x1bOPn"):
            os.write(ours, piece)
            if piece != b"f\x1b[A\r":
                continue
            assert read(keys, 2) == ["f", "\n"]
        assert read(keys, 3) == [Text(words="n\xe9\nq"), "b", "n"]
        os.write(ours, b"\x1b")
        assert read(keys, 1) == ["\x1b"]
        os.close(ours)


@pytest.mark.parametrize(
    ("begun", "first"), [(b"", []), (b"\x1b[200~half", [None, Text(words="half")])]
)
def test_a_terminal_that_is_gone_is_the_end_of_input(monkeypatch, begun, first):
    with keyboard(monkeypatch) as (keys, ours):
        os.write(ours, begun)
        assert read(keys, len(first[:1])) == first[:1]
        os.close(ours)
        assert read(keys, len(first[1:])) == first[1:]
        assert read(keys, 2) == ["", ""]
        assert keys.read(1.0, typing=True) == ""


def test_a_typed_line_is_a_text_with_all_that_is_pasted_to_it(monkeypatch):
    with keyboard(monkeypatch, in_lines=True) as (keys, ours):
        os.write(ours, b"16 bi\x7fytes\rand more")
        (text,) = read(keys, 1, typing=True)
        assert (text.in_a_line, text.ends) == ("16 bytes and more", True)
        os.write(ours, b"no\x1b\r")
        assert read(keys, 1, typing=True) == ["\x1b"]
        os.write(ours, b"f")
        assert read(keys, 1) == ["f"]
        os.close(ours)


@pytest.fixture
def terminal(environment, interruptible):
    """The second screen at a terminal of 80 columns and 24 lines."""
    program, *start = interruptible
    children = []

    def opened(*arguments, **changes):
        child = pexpect.spawn(
            program,
            [*start, *HELD, *arguments],
            env=environment | {"TERM": "xterm"} | changes,
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=30,
        )
        children.append(child)
        return child

    yield opened
    for child in children:
        child.close(force=True)


def ended(child):
    """What is printed to the end, and the exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return child.before, child.exitstatus


def test_a_paste_is_text_and_no_key_u_takes_it_back_and_a_signal_leaves_all_in_order(
    terminal, data
):
    child = terminal()
    child.expect_exact(PASTE_ON)
    child.expect("q stop")
    child.send(pasted("f\rn\rq\r"))
    child.expect("Pasted text is no key: t or a first.")
    child.send("t")
    child.expect("note> _")
    child.send(pasted("f\rn\r\nq")[:12])
    child.send(pasted("f\rn\r\nq")[12:])
    child.expect("note> f n q_")
    child.send("\x04")
    child.expect("noted: f n q")
    child.send("u")
    child.expect("Taken back: the note f n q.")
    child.send("tso far")
    child.expect("so far_")
    child.kill(signal.SIGHUP)
    said, code = ended(child)
    assert PASTE_OFF in said
    assert "\x1b[?1049l" in said
    assert code == 128 + signal.SIGHUP
    assert kept(data) == ["t f n q", "u", "t so far", "q"]


def test_where_lines_are_printed_the_keys_are_told_and_what_is_typed_is_seen(terminal, data):
    child = terminal("--plain")
    child.expect("keys: f full, h half, z zero, 1-9 heard, t note, n next, . all keys, q stop")
    child.send("nn")
    child.expect("z zero, a answer, t note")
    child.send("a")
    child.expect_exact("answer> ")
    child.send("16 bi\x7fytes\r")
    child.expect("16 bi.*ytes\r\n")
    child.expect("said: 16 bytes")
    child.expect("keys: ")
    child.send("t")
    child.expect_exact("note> ")
    child.send("one\rtwo\r")
    child.expect("noted: one two\r\n")
    child.send("t")
    child.expect_exact("note> ")
    child.send("\x04")
    child.expect("mark: none")
    child.send("f")
    child.expect("mark: full")
    child.send("q")
    said, code = ended(child)
    assert code == 0
    assert PASTE_OFF in said
    assert kept(data) == ["n", "n", "a 16 bytes", "t one two", "f", "q"]
