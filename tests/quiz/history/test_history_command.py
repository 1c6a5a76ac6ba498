import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from old_files import old_file

from quiz.cli import memquiz as cli
from quiz.history.backup import backups
from quiz.history.database import FILE
from quiz.history.schema import SCHEMA
from quiz.history.store import Store

OPTIONS = {"kind": "model-states", "count": 3, "seed": 5}
PROBLEMS = ("model-states@1", "model-states@2", "model-states@3")
PRACTICE = ("practice", "--kind", "model-states", "--seed", "5", "--count", "3")
# Commands that open the history, and whether they write it.
WRITING = (PRACTICE, ("history", "import", "-"))
READING = (("history",), ("history", "export"))
EMPTY = '{"memquiz": "history", "format": 4, "sets": 0, "attempts": 0, "interviews": 0, '
EMPTY += '"interview_lines": 0}\n'


@pytest.fixture
def here(monkeypatch, data):
    """Run memquiz in this process; its exit code and all that it printed."""
    monkeypatch.setenv("MEMQUIZ_DATA", str(data))
    # A busy file is waited for.
    monkeypatch.setattr("quiz.history.opening.BUSY_SECONDS", 0.05)

    def run(*arguments, typed="1 GB\n"):
        typed = EMPTY if arguments[-1] == "-" else typed
        result = CliRunner().invoke(cli, [str(one) for one in arguments], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.output

    return run


def sets_of(data, number=1):
    with Store(data) as store:
        for _ in range(number):
            store.start(OPTIONS, PROBLEMS)


def test_the_file_is_told_of_before_it_is_there(here, data):
    code, page = here("history")
    assert code == 0
    assert page.splitlines() == [
        f"file     {data / FILE}",
        "kept     nothing yet; the file is made by the first answers",
    ]
    assert not data.exists()


def test_an_export_of_nothing_is_a_header(here, data):
    assert here("history", "export") == (0, EMPTY)
    assert not data.exists()


def test_the_file_is_told_of_with_its_backups(here, data):
    old_file(data, 3)
    _, page = here("history")
    assert "format   3; the next practice brings it to 4 and leaves a backup\n" in page
    assert "answers  2026-12-01 00:17 to 2026-12-01 00:17 UTC\n" in page
    assert "kept     6 sets, 14 answers; 1 taken back\n" in page
    with Store(data):
        pass
    _, page = here("history")
    (copy,) = backups(data / FILE)
    assert f"format   {SCHEMA}\n" in page
    assert page.endswith(f"backup   {copy.name}\n")
    assert re.search(r"^size     [\d.]+ kB, sound$", page, re.MULTILINE)


def test_practice_tells_of_the_backup_in_one_line(here, data):
    old_file(data, 3)
    _, page = here(*PRACTICE)
    (copy,) = backups(data / FILE)
    assert f"Your answers are kept in format {SCHEMA} now; as they were: {copy}\n" in page
    assert "as they were" not in here(*PRACTICE)[1]


def test_a_history_goes_to_another_folder_and_back(here, data, tmp_path, monkeypatch):
    here(*PRACTICE, typed="1 GB\nundo\n2 GB\n")
    file = tmp_path / "mine.jsonl"
    assert here("history", "export", file) == (0, f"Wrote 1 set, 2 answers to {file}\n")
    printed = here("history", "export")[1]
    assert file.read_text() == printed
    monkeypatch.setenv("MEMQUIZ_DATA", str(tmp_path / "other"))
    added = "Added 1 set, 2 answers; 0 were there already.\n"
    assert here("history", "import", file) == (0, added)
    assert here("history", "export")[1] == printed
    assert "Going on: 1 of 3 answered." in here("practice", typed="3 GB\n")[1]
    here("history", "export", file)
    monkeypatch.setenv("MEMQUIZ_DATA", str(data))
    added = "Added 0 sets, 1 answer; 3 were there already.\n"
    assert here("history", "import", file) == (0, added)
    assert "Going on: 2 of 3 answered." in here("practice", typed="")[1]


def test_a_row_that_the_file_knew_more_of_is_told(here, tmp_path):
    here(*PRACTICE, typed="1 GB\n")
    file = tmp_path / "mine.jsonl"
    here("history", "export", file)
    file.write_text(
        file.read_text().replace('"undone": null', '"undone": "2026-12-01T01:00+00:00"')
    )
    assert here("history", "import", file)[1] == (
        "Added 0 sets, 0 answers; 2 were there already. 1 row was brought to the later\n"
        "state of the file.\n"
    )
    assert "1 answer; 1 taken back" in here("history")[1]


def test_a_file_that_is_not_there_or_not_ours_is_said(here, tmp_path, data):
    code, page = here("history", "import", tmp_path / "none.jsonl")
    assert (code, "none.jsonl: cannot be read: No such file or directory" in page) == (2, True)
    code, page = here("history", "import", tmp_path)
    assert (code, "cannot be read: Is a directory" in page) == (2, True)
    (tmp_path / "x").write_text("dear diary\n")
    code, page = here("history", "import", tmp_path / "x")
    assert (code, "x, line 1: is no JSON" in page) == (2, True)
    assert not data.exists()


def test_an_export_is_not_written_over_the_history_itself(here, data):
    sets_of(data)
    code, page = here("history", "export", data / FILE)
    assert (code, "is what the learner's file names" in page) == (2, True)
    assert "1 set, 0 answers" in here("history")[1]


def newer(data):
    sets_of(data)
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")


def anothers(data):
    data.mkdir()
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def text(data):
    data.mkdir()
    (data / FILE).write_text("dear diary, " * 500)


def truncated(data):
    sets_of(data, 100)
    with (data / FILE).open("r+b") as file:
        file.truncate(12_288)


def garbage(data):
    sets_of(data, 100)
    with (data / FILE).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 100_000)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (newer, "was written by a newer memquiz: format 5, this one reads 4; update memquiz; or"),
        (anothers, "is another program's database; it is left as it is; move it away; or name"),
        (text, "is no memquiz database; it is left as it is; put a backup in its place, or move"),
        (truncated, "is damaged; it is left as it is; put a backup in its place"),
        (garbage, "is damaged; it is left as it is; put a backup in its place"),
    ],
)
@pytest.mark.parametrize("command", [*WRITING, *READING], ids=" ".join)
def test_every_command_says_what_is_wrong_with_the_file_and_leaves_it(
    here, data, spoil, says, command
):
    spoil(data)
    before = (data / FILE).read_bytes()
    code, page = here(*command)
    assert (code, f"{data / FILE}: {says}" in page) == (2, True), page
    assert (data / FILE).read_bytes() == before


@pytest.mark.parametrize("command", [*WRITING, *READING], ids=" ".join)
def test_every_command_says_that_another_program_holds_the_file(here, data, command):
    sets_of(data)
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE sets SET version = version")
        code, page = here(*command)
    assert code == 2
    assert f"{data / FILE}: is held by another program that does not let go of it; close" in page


# Give up what lets root write anywhere, then become memquiz.
WITHOUT_POWER = """
import ctypes, os, sys
for power in (1, 2):
    ctypes.CDLL(None).prctl(24, power, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[1:]])
"""


@pytest.fixture
def powerless(environment, tmp_path):
    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_POWER, *arguments],
            input=EMPTY if arguments[-1] == "-" else "1 GB\n",
            capture_output=True,
            text=True,
            env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            cwd=tmp_path,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def read_only(data):
    """A folder of answers that cannot be written; once with a log that was left by a kill."""

    def make(how):
        old = data.with_name("old")
        sets_of(old)
        with Store(old) as store:
            store.start(OPTIONS, PROBLEMS)
            data.mkdir()
            wanted = {"closed": (), "left": ("-wal", "-shm"), "log alone": ("-wal",)}[how]
            for end in ("", *wanted):
                shutil.copyfile(old / (FILE + end), data / (FILE + end))
        data.chmod(0o555)

    yield make
    data.chmod(0o755)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="root's powers are Linux's")
@pytest.mark.parametrize(("how", "sets"), [("closed", 1), ("left", 2), ("log alone", 2)])
def test_what_lies_in_a_read_only_folder_can_be_read(powerless, read_only, how, sets):
    read_only(how)
    code, page = powerless("history", "export")
    assert (code, page.count('"table": "sets"')) == (0, sets), page


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="root's powers are Linux's")
@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_read_only_folder_is_said_and_what_can_be_done(powerless, read_only, data, command):
    read_only("closed")
    code, page = powerless(*command)
    assert code == 2
    assert f"{data / FILE}: cannot be written: it or its folder is read-only; memquiz his" in page
    assert "history export still reads it; or name another folder in MEMQUIZ_DATA" in page


# Set the largest size of a file that the process may write, then become memquiz.
WITH_LIMIT = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.executable, [sys.executable, "-m", "quiz", "history", *sys.argv[2:]])
"""


@pytest.fixture
def exported_file(here, data, tmp_path):
    """A hundred answers of a set, exported, and taken away here."""
    here(*PRACTICE)
    file = tmp_path / "mine.jsonl"
    here("history", "export", file)
    header, one, answer = map(json.loads, file.read_text().splitlines())
    answers = [answer | {"uid": f"a{number}"} for number in range(100)]
    rows = [header | {"attempts": len(answers)}, one, *answers]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.rmtree(data)
    return file


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("import", "memquiz.sqlite3: cannot be written: the disk is full"),
        ("export", "FILE: x.jsonl could not be written: File too large"),
    ],
)
def test_a_full_disk_is_said_and_changes_nothing(
    here, tmp_path, environment, exported_file, command, says
):
    file = tmp_path / "x.jsonl"
    file.write_bytes(exported_file.read_bytes())
    if command == "export":
        here("history", "import", file)
    before = here("history", "export")[1]
    done = subprocess.run(
        [sys.executable, "-c", WITH_LIMIT, "50000", command, file.name],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert here("history", "export")[1] == before
    assert file.read_bytes() == exported_file.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_history_on_a_full_disk_can_be_read(here, data, environment):
    sets_of(data)
    done = subprocess.run(
        [sys.executable, "-c", WITH_LIMIT, "4096", "export"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, here("history", "export")[1])
    assert done.stdout.count("\n") == 2


def test_two_imports_and_a_practice_at_once_lose_nothing_and_add_nothing_twice(
    here, environment, exported_file
):
    commands = [("history", "import", exported_file)] * 2 + [(*PRACTICE, "--new")] * 2
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "quiz", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for command in commands
    ]
    pages = [run.communicate("1 TB\n" * 3, timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, pages
    added = "Added 1 set, 100 answers; 0 were there already.\n"
    assert sorted(page for page, _ in pages[:2])[1] == added
    assert "kept     3 sets, 106 answers\n" in here("history")[1]
    assert sum(page.count("read as 1 TB") for page, _ in pages[2:]) == 6
