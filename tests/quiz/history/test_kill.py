"""Whatever is killed, whenever: what a learner was told is in the file, and the file is whole."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from quiz.history.database import FILE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")

KILLED = Path(__file__).with_name("killed.py")


def test_kills_at_any_moment_lose_no_answer_that_was_marked(environment, tmp_path):
    run = subprocess.run(
        [sys.executable, str(KILLED), str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)
    # Kills that come before or behind everything would show nothing.
    assert found["practising"]["marked"] > 20
    assert found["practising"]["undone"] > 0
    assert found["practising"]["position"] > 20
    assert found["making"]["there"] > 0
    assert 0 < found["migrating"]["renewed"] < 20
    assert 0 < found["importing"]["whole"] < 20


def test_kills_of_memquiz_itself_lose_no_answer_that_was_marked(environment, data, memquiz):
    command = [sys.executable, "-u", "-m", "quiz", "practice", "--kind", "model-states"]
    shown = 0
    for number in range(3):
        with subprocess.Popen(
            [*command, "--new", "--count", "100"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        ) as process:
            process.stdin.write("1 GB\n" * 100)
            process.stdin.flush()
            page = [process.stdout.readline() for _ in range(20 * number + 25)]
            process.kill()
            page.append(process.stdout.read())
            shown += "".join(page).count("read as 1 GB")
    with closing(sqlite3.connect(data / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM attempts").fetchone()[0] >= shown > 0
    assert "Going on: " in memquiz("practice").stdout
