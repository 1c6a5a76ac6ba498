import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from old_files import FORMATS, old_file, table

from engine.errors import InputError
from quiz.history.backup import PART, backups
from quiz.history.database import FILE, Database
from quiz.history.schema import SCHEMA
from quiz.history.store import Store

# Format 3 wrote what was understood in another form; `test_store.py` holds it to its meaning.
REWRITTEN = {1: {"parsed"}, 2: {"parsed"}, 3: set()}


@pytest.mark.parametrize("number", FORMATS)
def test_every_column_of_an_older_file_is_as_it_was(data, number):
    old_file(data, number)
    before = {name: table(data / FILE, name) for name in ("sets", "attempts")}
    with Store(data):
        pass
    for name, rows in before.items():
        after = table(data / FILE, name)
        for old, new in zip(rows, after, strict=True):
            for column in old.keys() - REWRITTEN[number]:
                assert (column, new[column]) == (column, old[column])
                assert type(new[column]) is type(old[column])


@pytest.mark.parametrize("number", FORMATS)
def test_a_copy_is_made_before_and_is_told(data, number):
    old_file(data, number)
    before = {name: table(data / FILE, name) for name in ("sets", "attempts")}
    with Store(data) as store:
        notice = store.notice
    (copy,) = backups(data / FILE)
    assert copy.name.startswith(f"{FILE}.format-{number}-")
    assert notice == f"Your answers are kept in format {SCHEMA} now; as they were: {copy}"
    assert {name: table(copy, name) for name in before} == before
    assert sorted(one.name for one in data.iterdir()) == sorted([FILE, copy.name])
    with Store(data) as store:
        assert store.notice == ""
    assert backups(data / FILE) == (copy,)


@pytest.mark.parametrize("number", FORMATS)
def test_an_older_file_is_read_as_if_it_were_new_and_left_as_it_is(data, number):
    old_file(data, number)
    before = (data / FILE).read_bytes()
    with Store.reading(data) as store:
        read = store.answered()
    assert (data / FILE).read_bytes() == before
    assert [one.name for one in data.iterdir()] == [FILE]
    with Store(data) as store:
        assert store.answered() == read != ()


def test_two_copies_of_an_older_file_name_each_row_alike(data, tmp_path):
    old_file(data, 3)
    other = tmp_path / "other"
    shutil.copytree(data, other)
    for folder in (data, other):
        with Store(folder):
            pass
    for name in ("sets", "attempts"):
        uids = [row["uid"] for row in table(data / FILE, name)]
        assert uids == [row["uid"] for row in table(other / FILE, name)]
        assert len(set(uids)) == len(uids)


def unmade(folder):
    """Say that a file of format 3 stands as it did, without a copy beside it."""
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    return not backups(folder / FILE) and not (folder / (FILE + PART)).is_file()


def test_without_room_for_the_copy_nothing_is_changed_and_it_is_said(data, monkeypatch):
    resource = pytest.importorskip("resource", reason="limits of a process are POSIX's")
    old_file(data, 3)
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("UPDATE attempts SET feedback = ? WHERE id = 1", ("." * 100_000,))
    before = table(data / FILE, "attempts")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, limits[1]))
    try:
        with pytest.raises(InputError, match="cannot be made: the disk is full") as caught:
            Database(data)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "nothing was changed; name another folder in MEMQUIZ_DATA" in str(caught.value)
    assert unmade(data)
    assert not list(data.glob(f"*{PART}*"))
    assert table(data / FILE, "attempts") == before


def test_where_the_copys_place_is_taken_nothing_is_changed_and_it_is_said(data):
    old_file(data, 3)
    (data / (FILE + PART)).mkdir()
    with pytest.raises(InputError, match="is of format 3, and the copy that is made before it"):
        Database(data)
    assert unmade(data)


def test_a_step_that_fails_leaves_the_file_as_it_was(data):
    old_file(data, 3)
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE interviews (theirs)")
    before = table(data / FILE, "attempts")
    with pytest.raises(InputError, match="table interviews already exists"):
        Database(data)
    assert table(data / FILE, "attempts") == before
    with closing(sqlite3.connect(data / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        names = [row[1] for row in connection.execute("PRAGMA table_info(sets)")]
    assert "uid" not in names


def test_a_damaged_older_file_is_left_as_it_is(data):
    old_file(data, 3)
    path = data / FILE
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        Database(data)
    assert path.read_bytes() == content
    assert not backups(path)
