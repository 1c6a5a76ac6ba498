"""The learner's SQLite file: opened, made, renewed or refused, with every failure in words."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, final

from quiz.history.backup import backup
from quiz.history.locks import locked
from quiz.history.opening import (
    format_of,
    is_empty,
    keep_a_log,
    must_be_sound,
    must_have_its_log,
    number,
    to_read,
    to_write,
)
from quiz.history.schema import SCHEMA, TABLES, migrate
from quiz.history.telling import FOREIGN, GONE, refusal, telling

FILE = "memquiz.sqlite3"
# Empty: a process that has a set open holds a lock on the byte of that set's number.
LOCKS = "memquiz.lock"


@final
class Database:
    """An open connection. It writes in transactions, each on the disk when it ends.

    Args:
        folder: made where it does not exist, unless it is only read.
        only_read: leave everything as it is; a file that is not there is an empty history.

    Attributes:
        path: of the file.
        number: the format that the file had, 0 where there was none.
        notice: a line for whoever sits down, "" where there is nothing to say.

    Raises:
        InputError: from the constructor and the context managers, saying what is wrong with the
            file. A file that is damaged, newer or another program's is not touched.
    """

    def __init__(self, folder: Path, *, only_read: bool = False) -> None:
        self.path = folder / FILE
        self.notice = ""
        self._only_read = only_read
        self._locks: BinaryIO | None = None
        with telling(self.path):
            must_have_its_log(self.path)
            if only_read:
                self._connection, self.number = to_read(self.path)
                return
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = to_write(self.path)
            try:
                self.number = self._prepare()
                self._place = self._stands()
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
        with telling(self.path):
            if self._locks is None:
                self._locks = self.path.with_name(LOCKS).open("ab")
            return locked(self._locks, key)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to read with: what is read inside is of one moment."""
        with telling(self.path):
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction: all of it is kept or nothing.

        Raises:
            ValueError: the file was opened to be read.
        """
        if self._only_read:
            raise ValueError("opened to be read only")
        with telling(self.path):
            try:
                with self._transaction() as connection:
                    yield connection
                    self._must_stand()  # else what is told to be lost would be kept elsewhere
            except sqlite3.DatabaseError:
                self._must_stand()
                raise
            self._must_stand()

    def _must_stand(self) -> None:
        if self._stands() != self._place:
            raise refusal(self.path, *GONE)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _stands(self) -> tuple[int, int] | None:
        """Return what stands at the path, to be told from another file; None where nothing does.

        SQLite goes on with a file that was moved or removed as if it were there.
        """
        try:
            there = os.stat(self.path)  # noqa: PTH116 - a path that is gone is no error here
        except OSError:
            return None
        return there.st_dev, there.st_ino

    def _prepare(self) -> int:
        kept = format_of(self._connection, self.path)
        if kept == 0:
            self._create()
        elif kept < SCHEMA:
            self._migrate()
        else:
            must_be_sound(self._connection)
        keep_a_log(self._connection)
        return kept

    def _migrate(self) -> None:
        """Bring a file of an older format to this one, behind a copy of it: all, or nothing."""
        with self._transaction() as connection:
            kept = number(connection, "user_version")
            if kept == SCHEMA:
                return  # another process was first
            copy = backup(self.path, kept)
            migrate(connection)
        self.notice = f"Your answers are kept in format {SCHEMA} now; as they were: {copy}"

    def _create(self) -> None:
        with self._transaction() as connection:
            if number(connection, "user_version"):
                return  # another process was first
            if not is_empty(connection):
                raise refusal(self.path, *FOREIGN)
            for statement in TABLES:
                connection.execute(statement)
