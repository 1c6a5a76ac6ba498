import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from opened import EMPTY, OPTIONS, PRACTICE, PROBLEMS, WRITING, sets_of

from quiz.history.database import FILE
from quiz.history.store import Store

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


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("import", "memquiz.sqlite3: cannot be written: the disk is full"),
        ("export", "FILE: x.jsonl could not be written: File too large"),
    ],
)
def test_a_full_disk_is_said_and_changes_nothing(
    here, tmp_path, environment, with_limit, exported_file, command, says
):
    file = tmp_path / "x.jsonl"
    file.write_bytes(exported_file.read_bytes())
    if command == "export":
        here("history", "import", file)
    before = here("history", "export")[1]
    done = subprocess.run(
        [*with_limit(50_000), "history", command, file.name],
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


def test_a_history_on_a_full_disk_can_be_read(here, data, environment, with_limit):
    sets_of(data)
    done = subprocess.run(
        [*with_limit(4096), "history", "export"],
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
