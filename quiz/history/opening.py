"""Ways to open the learner's file: to write it, or to read it and leave it as it is."""

import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from shutil import copyfile

from quiz.history.schema import APPLICATION, SCHEMA, TABLES, migrate
from quiz.history.telling import ALONE, FOREIGN, code, newer, refusal

BUSY_SECONDS = 10.0
# What SQLite may lay beside a file: the log, and the journal of a file that keeps no log yet.
BESIDE = ("-wal", "-journal")
# Codes of a file that cannot be opened as it lies there, but perhaps without writing beside it.
CLOSED = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PERM,
    }
)


def to_write(path: Path) -> sqlite3.Connection:
    """Open the file, made where it is not there; nothing is read of it yet."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    # Each transaction is on the disk when it ends: also if the power fails then.
    connection.execute("PRAGMA synchronous = FULL")
    if sys.platform == "darwin":  # where a disk may keep what was synced in its own memory
        connection.execute("PRAGMA fullfsync = ON")
    return connection


def keep_a_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, so that two processes can read and write at once."""
    # The switch does not wait for another process as every other statement does.
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def number(connection: sqlite3.Connection, pragma: str) -> int:
    """Return the number that a pragma has."""
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def is_empty(connection: sqlite3.Connection) -> bool:
    """Say whether a file has nothing in it, of whichever program."""
    return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def format_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the format of the file at `path`, 0 where nothing is in it yet.

    Raises:
        InputError: it is of a newer format, or another program's.
    """
    kept = number(connection, "user_version")
    if kept == 0 and is_empty(connection):
        return 0
    if number(connection, "application_id") != APPLICATION or kept <= 0:
        raise refusal(path, *FOREIGN)
    if kept > SCHEMA:
        raise newer(path, kept, SCHEMA)
    return kept


def must_be_sound(connection: sqlite3.Connection) -> None:
    """Go through the pages of a file before the first is written.

    Raises:
        sqlite3.DatabaseError: one is damaged.
    """
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def must_have_its_log(path: Path) -> None:
    """Refuse where the file is gone and its log was left: SQLite would remove that.

    Raises:
        InputError: the last answers may be in the log alone.
    """
    log = path.with_name(f"{path.name}-wal")
    if not path.exists() and log.exists() and log.stat().st_size:
        raise refusal(path, *ALONE)


def to_read(path: Path) -> tuple[sqlite3.Connection, int]:
    """Open what can be read of the file at `path`, and return its format too.

    No answer in it is changed, and nothing is made where it is not there: that is an empty
    history, of format 0. A file of an older format is read through a copy in memory.

    Raises:
        InputError: it is of a newer format, or another program's.
        sqlite3.DatabaseError, OSError: it cannot be read.
    """
    if not path.exists():
        return _empty(), 0
    connection = _as_it_lies(path)
    try:
        kept = format_of(connection, path)
        if kept == SCHEMA:
            return connection, kept
        if kept == 0:
            connection.close()
            return _empty(), 0
        return _brought_up(connection), kept
    except BaseException:
        connection.close()
        raise


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in TABLES:
        connection.execute(statement)
    return connection


def _brought_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy in memory that has this format, and close the file."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    # Inside a transaction, so that a locked file is waited for as ever, and not without an end.
    connection.execute("BEGIN")
    number(connection, "user_version")
    connection.backup(copy)
    connection.execute("COMMIT")
    connection.close()
    copy.execute("BEGIN")
    migrate(copy)
    copy.execute("COMMIT")
    return copy


def _as_it_lies(path: Path) -> sqlite3.Connection:
    try:
        # With its log, which SQLite writes beside it, also for who only reads.
        return _opened(path, "mode=rw")
    except sqlite3.DatabaseError as error:
        if code(error) not in CLOSED or not path.is_file():
            raise
    beside = [path.with_name(path.name + end) for end in BESIDE]
    left = [one for one in beside if one.exists() and one.stat().st_size]
    return _copied(path, left) if left else _opened(path, "immutable=1")


def _opened(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        is_empty(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: Path, beside: list[Path]) -> sqlite3.Connection:
    """Return a copy in memory of a file whose log cannot be read where it lies."""
    with tempfile.TemporaryDirectory() as folder:
        for one in (path, *beside):
            copyfile(one, Path(folder) / one.name)
        with closing(_opened(Path(folder) / path.name, "mode=rw")) as connection:
            copy = sqlite3.connect(":memory:", isolation_level=None)
            connection.backup(copy)
    return copy
