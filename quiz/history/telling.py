"""What is wrong with the learner's file, in words: what, where, and what to do next."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Fault, InputError

WITHOUT = "name another folder in MEMQUIZ_DATA, or practise with --no-save"
ROOM = f"make room and type the command again; or {WITHOUT}"
READABLE = f"memquiz history export still reads it; or {WITHOUT}"

REASONS = {
    sqlite3.SQLITE_NOTADB: (
        "is no memquiz database; it is left as it is",
        f"put a backup in its place, or move it away; or {WITHOUT}",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged; it is left as it is",
        f"put a backup in its place, or move it away; or {WITHOUT}",
    ),
    sqlite3.SQLITE_FULL: ("cannot be written: the disk is full", ROOM),
    sqlite3.SQLITE_READONLY: ("cannot be written: it or its folder is read-only", READABLE),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened; is it a file, in a folder that may be written?",
        WITHOUT,
    ),
    sqlite3.SQLITE_BUSY: (
        "is held by another program that does not let go of it",
        f"close that program and type the command again; or {WITHOUT}",
    ),
    sqlite3.SQLITE_IOERR: ("cannot be written: the disk is full or fails", ROOM),
}
GONE = (
    "is no longer there: it or its folder was moved, removed or unmounted while it was open",
    f"put it back and type the command again, since the last answer is not kept; or {WITHOUT}",
)
ALONE = (
    "is not there, but its log is, which has the last answers",
    f"put the file back beside its log, or move the log away; or {WITHOUT}",
)
FOREIGN = ("is another program's database; it is left as it is", f"move it away; or {WITHOUT}")


def refusal(path: Path, what: str, following: str = WITHOUT) -> InputError:
    """Return the error that says what is wrong with the file at `path`."""
    return InputError(Fault(str(path), what, following))


def newer(path: Path, kept: int, known: int) -> InputError:
    """Return the error for a file of a format that is not known yet."""
    what = f"was written by a newer memquiz: format {kept}, this one reads {known}"
    return refusal(path, what, f"update memquiz; or {WITHOUT}")


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Say in words what goes wrong with the file at `path`.

    Raises:
        InputError: SQLite or the system refused.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        unknown = f"cannot be used: {error}", WITHOUT
        raise refusal(path, *REASONS.get(code(error), unknown)) from error
    except (FileExistsError, NotADirectoryError) as error:
        what = "cannot be made: a file stands where its folder should"
        raise refusal(path, what) from error
    except OSError as error:
        raise refusal(path, f"cannot be used: {error.strerror or error}") from error


def code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 where the error came from elsewhere."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
