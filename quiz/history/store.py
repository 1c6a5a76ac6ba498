"""Sets and answers as they are kept: written at once, never overwritten."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, final
from uuid import uuid4

import platformdirs

from engine.errors import Fault, InputError
from quiz.history.database import Database
from quiz.marking.attempt import Attempt
from quiz.marking.parsed import restored, written
from quiz.marking.verdict import Mark, Verdict
from quiz.release import VERSION

PLACE = "MEMQUIZ_DATA"
OPEN = Fault("this set", "is open in another memquiz", "go on there, or begin a new set: --new")

RECORD = """
    INSERT INTO attempts (
        uid, set_id, position, problem, topic, level, tells, typed, parsed, score, verdict,
        mistake, held, feedback, hints, seconds, answered, version
    ) VALUES (
        :uid, :set_id, :position, :problem, :topic, :level, :tells, :typed, :parsed, :score,
        :verdict, :mistake, :held, :feedback, :hints, :seconds, :answered, :version
    )
"""
STANDING = """
    SELECT position, problem, topic, typed, parsed, score, verdict, mistake, held,
        feedback, hints, seconds, own, level, tells
    FROM attempts WHERE set_id = ? AND undone IS NULL ORDER BY answered, id
"""
EVER = """
    SELECT answered, problem, topic, typed, parsed, score, verdict, mistake, held,
        feedback, hints, seconds, own, level, tells
    FROM attempts WHERE undone IS NULL ORDER BY answered, position, id
"""


@dataclass(frozen=True, kw_only=True)
class SavedSet:
    """A set of questions as it was kept, with the answers that stand."""

    key: int
    options: dict[str, Any]
    problems: tuple[str, ...]
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer that stands, of whatever set, and when it was given (UTC)."""

    attempt: Attempt
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Interviewed:
    """A finished interview: when it began (UTC), of what level and length, and its marks.

    Args:
        mode: "alone", or "two" with an interviewer.
        marks: by aspect, from 0 to 1; None where nothing asked for it was reached.
    """

    at: datetime
    mode: str
    level: str
    minutes: int
    marks: Mapping[str, float | None]


def data_folder() -> Path:
    """Return the folder of the learner's data: `MEMQUIZ_DATA`, or the platform's own."""
    named = os.environ.get(PLACE)
    return Path(named) if named else Path(platformdirs.user_data_dir("memquiz", appauthor=False))


@final
class Store:
    """The learner's file. Every method that writes has committed when it returns.

    Raises:
        InputError: from every method, where the file cannot be read or written.
    """

    def __init__(self, folder: Path, *, only_read: bool = False) -> None:
        self._database = Database(folder, only_read=only_read)

    @classmethod
    def reading(cls, folder: Path) -> Self:
        """Open what can be read, and leave everything as it is.

        No file is made or brought to a new format: one of an older format is read through a copy
        in memory, and where there is none, the history is empty.
        """
        return cls(folder, only_read=True)

    @property
    def notice(self) -> str:
        """A line for whoever sits down, "" where there is nothing to say."""
        return self._database.notice

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def start(self, options: dict[str, Any], problems: tuple[str, ...]) -> int:
        """Keep a new set, take it for this process and return its key."""
        row = (uuid4().hex, _now(), json.dumps(options), json.dumps(problems), VERSION)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO sets (uid, created, options, problems, version) "
                "VALUES (?, ?, ?, ?, ?)",
                row,
            )
            key = int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])
            # Before others see it: the newest unfinished set is what the next process asks for.
            self._database.claim(key)
            return key

    def unfinished(self, asked: dict[str, Any]) -> SavedSet | None:
        """Take and return the newest unfinished set with the options that were `asked` for.

        Args:
            asked: the options that were given; one that is None matches every set.

        Raises:
            InputError: another process has it.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, options, problems FROM sets WHERE finished IS NULL "
                "ORDER BY created DESC, id DESC"
            ).fetchall()
        for key, options, problems in rows:
            kept = json.loads(options)
            if all(value is None or kept.get(name) == value for name, value in asked.items()):
                if not self._database.claim(key):
                    raise InputError(OPEN)
                return SavedSet(
                    key=key,
                    options=kept,
                    problems=tuple(json.loads(problems)),
                    attempts=self._attempts(key),
                )
        return None

    def record(self, key: int, position: int, attempt: Attempt) -> None:
        """Keep an answer."""
        verdict = attempt.verdict
        row = {
            "uid": uuid4().hex,
            "set_id": key,
            "position": position,
            "problem": verdict.problem,
            "topic": attempt.topic,
            "level": attempt.level,
            "tells": None if attempt.tells is None else json.dumps(attempt.tells),
            "typed": verdict.answer,
            "parsed": written(verdict.parsed),
            "score": float(verdict.score),
            "verdict": verdict.verdict,
            "mistake": verdict.mistake,
            "held": verdict.held,
            "feedback": verdict.feedback,
            "hints": attempt.hints,
            "seconds": attempt.seconds,
            "answered": _now(),
            "version": VERSION,
        }
        with self._database.writing() as connection:
            connection.execute(RECORD, row)

    def undo(self, key: int, position: int) -> None:
        """Mark the answer at `position` as taken back; it stays in the file."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE attempts SET undone = ? "
                "WHERE set_id = ? AND position = ? AND undone IS NULL",
                (_now(), key, position),
            )

    def overrule(self, key: int, position: int, mark: Mark) -> None:
        """Keep the learner's own mark of the answer at `position`; the program's stays."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE attempts SET own = ?, overruled = ? "
                "WHERE set_id = ? AND position = ? AND undone IS NULL",
                (mark, _now(), key, position),
            )

    def plan(self, key: int, problems: tuple[str, ...]) -> None:
        """Keep which questions a set asks, as far as they are planned."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE sets SET problems = ? WHERE id = ?", (json.dumps(problems), key)
            )

    def ranges(self) -> tuple[int, int]:
        """Return how many of the ranges ever typed held the reference, and how many there are."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT coalesce(sum(held), 0), count(held) FROM attempts WHERE undone IS NULL"
            ).fetchone()
        return int(row[0]), int(row[1])

    def answered(self) -> tuple[Answered, ...]:
        """Return every answer that stands, of all sets, in the order in which they were given."""
        with self._database.reading() as connection:
            rows = connection.execute(EVER).fetchall()
        return tuple(
            Answered(at=datetime.fromisoformat(at), attempt=_attempt_from(row))
            for at, *row in rows
        )

    def interviews(self) -> tuple[Interviewed, ...]:
        """Return every finished interview, in the order in which they began."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT created, mode, options, marks FROM interviews "
                "WHERE finished IS NOT NULL AND marks IS NOT NULL ORDER BY created, id"
            ).fetchall()
        return tuple(_interviewed(*row) for row in rows)

    def finish(self, key: int) -> None:
        """Mark a set as finished, so that it is not taken up again."""
        with self._database.writing() as connection:
            connection.execute("UPDATE sets SET finished = ? WHERE id = ?", (_now(), key))

    def _attempts(self, key: int) -> tuple[Attempt, ...]:
        """Return the answers that stand, up to the first question that has none."""
        with self._database.reading() as connection:
            rows = connection.execute(STANDING, (key,)).fetchall()
        by_position = {row[0]: _attempt_from(row[1:]) for row in rows}
        standing: list[Attempt] = []
        while len(standing) in by_position:
            standing.append(by_position[len(standing)])
        return tuple(standing)


def _interviewed(created: str, mode: str, options: str, marks: str) -> Interviewed:
    drawn = json.loads(options)
    return Interviewed(
        at=datetime.fromisoformat(created),
        mode=mode,
        level=drawn["level"],
        minutes=drawn["minutes"],
        marks=json.loads(marks)["aspects"],
    )


def _attempt_from(row: Sequence[Any]) -> Attempt:
    problem, topic, typed, parsed, score, mark, mistake, held, *rest = row
    feedback, hints, seconds, own, level, tells = rest
    verdict = Verdict(
        problem=problem,
        answer=typed,
        parsed=restored(parsed),
        score=Fraction(score),
        verdict=mark,
        mistake=mistake,
        held=None if held is None else bool(held),
        feedback=feedback,
    )
    return Attempt(
        topic=topic,
        verdict=verdict,
        hints=hints,
        seconds=seconds,
        own=own,
        level=level,
        tells=None if tells is None else tuple(json.loads(tells)),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
