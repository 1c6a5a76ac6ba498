"""What is kept: where, in which format, how much, since when, and the copies beside it."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from quiz.history.backup import backups
from quiz.history.database import Database
from quiz.history.exchange import counts_of, kept_rows
from quiz.history.telling import refusal

# As in the file: text that begins with the day and the minute.
MINUTE = len("2026-11-30T18:05")


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The learner's file as a whole.

    Args:
        format: 0 where there is no file.
        size: of the file with its log, in bytes.
        counts: rows by table.
        undone: how many of the answers were taken back.
        first: when the first answer was given (UTC, to the minute); "" where there is none.
        last: when the last one was.
        backups: copies that were made before a new format.
    """

    path: Path
    format: int
    size: int
    counts: dict[str, int]
    undone: int
    first: str
    last: str
    backups: tuple[Path, ...]


def overview(folder: Path) -> Overview:
    """Read the file in `folder` as a whole, and see that SQLite finds it sound.

    Raises:
        InputError: it cannot be read.
    """
    database = Database(folder, only_read=True)
    try:
        with database.reading() as connection:
            _must_be_sound(connection, database.path)
            return _overview(connection, database)
    finally:
        database.close()


def _must_be_sound(connection: sqlite3.Connection, path: Path) -> None:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        copies = ", ".join(copy.name for copy in backups(path)) or "none beside it"
        following = (
            f"put a backup in its place: {copies}; or take what can be read with SQLite's own "
            "program: sqlite3 FILE .recover"
        )
        raise refusal(path, "is damaged; it is left as it is", following)


def _overview(connection: sqlite3.Connection, database: Database) -> Overview:
    counts = counts_of(kept_rows(connection))
    undone, first, last = connection.execute(
        "SELECT count(undone), min(answered), max(answered) FROM attempts"
    ).fetchone()
    path = database.path
    files = [path, path.with_name(f"{path.name}-wal")]
    return Overview(
        path=path,
        format=database.number,
        size=sum(one.stat().st_size for one in files if one.exists()),
        counts=counts,
        undone=undone,
        first=_minute(first),
        last=_minute(last),
        backups=backups(path),
    )


def _minute(moment: str | None) -> str:
    return "" if moment is None else moment[:MINUTE].replace("T", " ")
