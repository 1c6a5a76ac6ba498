"""Copies of the learner's file, made before a new format changes it."""

import os
import sqlite3
import sys
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from quiz.history.telling import REASONS, code, refusal

STAMP = "%Y%m%dT%H%M%S.%fZ"
SUFFIX = ".backup"
# A copy that is being made. Whoever makes one has the file locked, so that there is one at most.
PART = ".backup-part"


def backup(path: Path, number: int) -> Path:
    """Copy the file at `path`, of format `number`, beside itself: whole, on the disk, or not.

    The caller holds the file's write lock, in a transaction that has changed nothing yet.

    Raises:
        InputError: it cannot be made.
    """
    part = path.with_name(path.name + PART)
    stamp = datetime.now(UTC).strftime(STAMP)
    place = path.with_name(f"{path.name}.format-{number}-{stamp}{SUFFIX}")
    try:
        part.unlink(missing_ok=True)
        _copy(path, part)
        part.replace(place)
        _sync(place.parent)
    except (sqlite3.Error, OSError) as error:
        for end in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                part.with_name(part.name + end).unlink(missing_ok=True)
        what = (
            f"is of format {number}, and the copy that is made before it is brought to a new one "
            f"cannot be made: {_why(error)}; nothing was changed"
        )
        raise refusal(path, what) from error
    return place


def backups(path: Path) -> tuple[Path, ...]:
    """Return the copies beside the file at `path`, in the order of their names."""
    return tuple(sorted(path.parent.glob(f"{path.name}.format-*{SUFFIX}")))


def _copy(path: Path, part: Path) -> None:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as source,
        closing(sqlite3.connect(part, isolation_level=None)) as copy,
    ):
        source.backup(copy)
        # One file, without a log beside it.
        copy.execute("PRAGMA journal_mode = DELETE")
        if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            raise sqlite3.DatabaseError("it is damaged")
    with part.open("r+b") as file:
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """See that a new name in `folder` is on the disk too."""
    if sys.platform == "win32":
        return
    there = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)


def _why(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    what, _ = REASONS.get(code(error), (str(error), ""))
    return what.partition(": ")[2] or what
