"""The learner's SQLite file: opened, made or refused, with every failure said in words."""

import errno
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, final

from engine.errors import Fault, InputError
from quiz.history.schema import APPLICATION, MIGRATIONS, SCHEMA, TABLES

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FILE = "memquiz.sqlite3"
# Empty: a process that has a set open holds a lock on the byte of that set's number.
LOCKS = "memquiz.lock"
WITHOUT = "name another folder in MEMQUIZ_DATA, or practise with --no-save"
BUSY_SECONDS = 10.0

REASONS = {
    sqlite3.SQLITE_NOTADB: "is no memquiz database; it is left as it is",
    sqlite3.SQLITE_CORRUPT: "is damaged; it is left as it is",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; is it a file, in a folder that may be written?",
    sqlite3.SQLITE_BUSY: "is held by another program that does not let go of it",
    sqlite3.SQLITE_IOERR: "cannot be written: the disk is full or fails",
}


@final
class Database:
    """An open connection. It writes in transactions, each on the disk when it ends.

    Args:
        folder: made where it does not exist.

    Raises:
        InputError: from the constructor and both context managers, saying what is wrong with the
            file. A file that is damaged, newer or another program's is not touched.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._locks: BinaryIO | None = None
        with self._telling():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, isolation_level=None
            )
        try:
            with self._telling():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let go of the file and of every set."""
        self._connection.close()
        if self._locks:
            self._locks.close()

    def claim(self, key: int) -> bool:
        """Take a set until `close` or the end of the process; False where another one has it."""
        with self._telling():
            if self._locks is None:
                self._locks = self._path.with_name(LOCKS).open("ab")
            return _locked(self._locks, key)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to read with."""
        with self._telling():
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction: all of it is kept or nothing."""
        with self._telling():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        connection = self._connection
        connection.execute("PRAGMA foreign_keys = ON")
        kept = connection.execute("PRAGMA user_version").fetchone()[0]
        if kept == 0:
            self._create()
        elif self._number("application_id") != APPLICATION:
            raise self._refusal("is another program's database; it is left as it is")
        elif kept > SCHEMA:
            what = f"was written by a newer memquiz: format {kept}, this one reads {SCHEMA}"
            raise self._refusal(what, f"update memquiz; or {WITHOUT}")
        elif kept < SCHEMA:
            self._migrate()
        self._keep_a_log()

    def _migrate(self) -> None:
        """Bring a file of an older format to this one: all of it, or nothing."""
        with self.writing() as connection:
            for kept in range(self._number("user_version"), SCHEMA):  # another may have been first
                for statement in MIGRATIONS[kept]:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _create(self) -> None:
        with self.writing() as connection:
            if self._number("user_version"):
                return  # another process was first
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise self._refusal("is another program's database; it is left as it is")
            for statement in TABLES:
                connection.execute(statement)

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _keep_a_log(self) -> None:
        """Switch to a write-ahead log, so that two processes can read and write at once."""
        # The switch does not wait for another process as every other statement does.
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def _refusal(self, what: str, following: str = WITHOUT) -> InputError:
        return InputError(Fault(str(self._path), what, following))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            reason = REASONS.get(_code(error), f"cannot be used: {error}")
            raise self._refusal(reason) from error
        except (FileExistsError, NotADirectoryError) as error:
            what = "cannot be made: a file stands where its folder should"
            raise self._refusal(what) from error
        except OSError as error:
            raise self._refusal(f"cannot be used: {error.strerror or error}") from error


def _locked(file: BinaryIO, place: int) -> bool:
    """Lock the byte at `place` until the process ends; False where another one has it."""
    try:
        if sys.platform == "win32":
            file.seek(place)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError as error:
        # A file system that knows no locks keeps nobody out.
        return error.errno not in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
    return True


def _code(error: sqlite3.DatabaseError) -> int:
    """Return SQLite's primary result code, 0 where the error came from elsewhere."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
