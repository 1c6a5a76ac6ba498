"""An interview whose process is killed has every line that was replied to."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from quiz.history.database import FILE

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="it is POSIX's")

COMMAND = (sys.executable, "-m", "quiz", "interview", "--level", "junior", "--minutes", "20")
# A line, and what stands in the reply to it.
LINES = (
    ("which precision?", "noted"),
    ("and the micro-batch", "noted"),
    ("", "question 2/"),
    ("weights, gradients", "noted"),
    ("", "question 3/"),
    ("16 bytes", "read as 16 bytes"),
)


def reply(process, until):
    """Read on until a line of the reply has been seen."""
    while (line := process.stdout.readline()) and until not in line:
        pass
    assert line


def test_every_line_that_was_replied_to_is_kept(environment, data):
    typed = []
    for number, (line, answered) in enumerate(LINES):
        process = subprocess.Popen(
            COMMAND if number else (*COMMAND, "--seed", "1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        reply(process, "? help")
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        reply(process, answered)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        typed.append(line)
        with closing(sqlite3.connect(data / FILE)) as connection:
            kept = connection.execute("SELECT typed FROM interview_lines ORDER BY id").fetchall()
            held = connection.execute("SELECT count(*) FROM interviews").fetchone()
        assert [row[0] for row in kept] == typed
        assert held == (1,)
