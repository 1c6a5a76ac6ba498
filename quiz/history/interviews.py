"""Interviews as they are kept: every line at once, so that any can be gone on with or replayed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, final
from uuid import uuid4

from engine.errors import Fault, InputError
from quiz.history.database import Database
from quiz.release import VERSION

OPEN = Fault(
    "this interview", "is open in another memquiz", "go on there, or begin a new one: --new"
)
# Sets hold the locks below: a process that has an interview open holds one behind all of theirs.
BEHIND_SETS = 1 << 40
ROWS = "SELECT id, uid, created, finished, options, version FROM interviews WHERE mode = ?"
ALONE, TWO = "alone", "two"
# Fewer digits are a number, though a uid may begin so.
FEWEST_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class SavedInterview:
    """An interview as it was kept.

    Args:
        key: its number in this file.
        uid: its name in every file.
        created: when it began, UTC.
        finished: whether it was gone through to its end.
        options: what it was drawn from, in JSON's types.
        lines: (seconds, line), in their order.
        version: of memquiz, which began it.
    """

    key: int
    uid: str
    created: datetime
    finished: bool
    options: dict[str, Any]
    lines: tuple[tuple[float, str], ...]
    version: str


@final
class Interviews:
    """The interviews in the learner's file. What was told is on the disk when a method returns.

    Args:
        folder: of the learner's data.
        mode: "alone", or "two" with an interviewer; those of the other mode are not seen.

    Raises:
        InputError: from every method, where the file cannot be read or written.
    """

    def __init__(self, folder: Path, *, mode: str = ALONE) -> None:
        self._database = Database(folder)
        self._mode = mode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def notice(self) -> str:
        """A line for whoever sits down, "" where there is nothing to say."""
        return self._database.notice

    def start(self, options: Mapping[str, Any]) -> SavedInterview:
        """Keep a new interview and take it for this process."""
        uid, now = uuid4().hex, _now()
        row = (uid, now, self._mode, json.dumps(options), VERSION)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO interviews (uid, created, mode, options, version) "
                "VALUES (?, ?, ?, ?, ?)",
                row,
            )
            key = int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])
            # Before others see it: the newest unfinished one is what the next process asks for.
            self._database.claim(BEHIND_SETS + key)
        return SavedInterview(
            key=key,
            uid=uid,
            created=datetime.fromisoformat(now),
            finished=False,
            options=dict(options),
            lines=(),
            version=VERSION,
        )

    def unfinished(self, asked: Mapping[str, Any]) -> SavedInterview | None:
        """Take and return the newest unfinished interview with the options that were `asked` for.

        Args:
            asked: the options that were given; one that is None matches every interview.

        Raises:
            InputError: another process has it.
        """
        for row in self._rows("AND finished IS NULL ORDER BY created DESC, id DESC"):
            options = json.loads(row[4])
            if all(value is None or options.get(name) == value for name, value in asked.items()):
                if not self._database.claim(BEHIND_SETS + row[0]):
                    raise InputError(OPEN)
                return self._saved(row)
        return None

    def keep(self, key: int, seconds: float, typed: str) -> None:
        """Keep a line, and the seconds since the one before it."""
        row = (uuid4().hex, key, seconds, typed, _now(), VERSION)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO interview_lines "
                "(uid, interview_id, seconds, typed, answered, version) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )

    def finish(self, key: int, marks: Mapping[str, Any]) -> None:
        """Keep the marks of an interview that is at its end."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE interviews SET finished = ?, marks = ? WHERE id = ?",
                (_now(), json.dumps(marks), key),
            )

    def named(self, name: str) -> SavedInterview | None:
        """Return the interview with this number, uid or beginning of a uid; None where none is.

        Args:
            name: "" is the last one that was finished.

        Raises:
            InputError: several begin so.
        """
        if not name:
            found = self._rows("AND finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT 1")
        else:
            number = int(name) if name.isascii() and name.isdecimal() and len(name) < 16 else -1
            found = self._rows("AND id = ?", number)
            if not found and (number < 0 or len(name) >= FEWEST_DIGITS):
                begins = "AND substr(uid, 1, length(?)) = ?"
                found = self._rows(begins, name.lower(), name.lower())
        if len(found) > 1:
            what = f"{len(found)} interviews begin with {name[:40]!r}"
            raise InputError(Fault("--replay", what, "type more of it, or its number"))
        return self._saved(found[0]) if found else None

    def finished(self, most: int) -> tuple[SavedInterview, ...]:
        """Return the last interviews that were gone through to their end, the last one first."""
        clause = "AND finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT ?"
        return tuple(self._saved(row) for row in self._rows(clause, most))

    def _rows(self, clause: str, *values: object) -> list[Sequence[Any]]:
        with self._database.reading() as connection:
            return connection.execute(f"{ROWS} {clause}", (self._mode, *values)).fetchall()

    def _saved(self, row: Sequence[Any]) -> SavedInterview:
        key, uid, created, finished, options, version = row
        with self._database.reading() as connection:
            lines = connection.execute(
                "SELECT seconds, typed FROM interview_lines WHERE interview_id = ? ORDER BY id",
                (key,),
            ).fetchall()
        return SavedInterview(
            key=key,
            uid=uid,
            created=datetime.fromisoformat(created),
            finished=finished is not None,
            options=json.loads(options),
            lines=tuple((float(seconds), typed) for seconds, typed in lines),
            version=version,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
