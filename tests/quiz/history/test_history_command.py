import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from old_files import old_file
from opened import EMPTY, PRACTICE, READING, WRITING, sets_of

from quiz.history.backup import backups
from quiz.history.database import FILE
from quiz.history.schema import SCHEMA
from quiz.history.store import Store


def test_the_file_is_told_of_before_it_is_there(here, data):
    code, page = here("history")
    assert code == 0
    assert page.splitlines() == [
        f"file     {data / FILE}",
        "kept     nothing yet; the file is made by the first answers",
    ]
    assert not data.exists()


@pytest.mark.parametrize("file", [(), ("-",)])
def test_an_export_of_nothing_is_a_header(here, data, file):
    assert here("history", "export", *file) == (0, EMPTY)
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


def unnumbered(data):
    sets_of(data)
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 0")


def below_zero(data):
    sets_of(data)
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = -3")


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
        (unnumbered, "is another program's database; it is left as it is"),
        (below_zero, "is another program's database; it is left as it is"),
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


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_file_with_one_damaged_page_is_not_written(here, data, command):
    sets_of(data, 300)
    with (data / FILE).open("r+b") as file:
        file.seek(15 * 4096)
        file.write(b"\xff" * 4096)
    before = (data / FILE).read_bytes()
    code, page = here(*command)
    assert (code, "is damaged; it is left as it is" in page) == (2, True), page
    assert (data / FILE).read_bytes() == before


@pytest.mark.parametrize("command", [*WRITING, *READING], ids=" ".join)
def test_a_log_that_lies_there_alone_is_told_and_left(here, data, command):
    sets_of(data)
    connection = sqlite3.connect(data / FILE)
    connection.execute("UPDATE sets SET version = 'x'")
    connection.commit()
    log = data / f"{FILE}-wal"
    kept = log.read_bytes()
    connection.close()
    (data / FILE).rename(data / "elsewhere")
    log.write_bytes(kept)
    code, page = here(*command)
    assert (code, "is not there, but its log is, which has the last answers" in page) == (2, True)
    assert log.read_bytes() == kept


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
