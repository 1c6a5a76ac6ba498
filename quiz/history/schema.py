"""The tables of the learner's file, and what makes one of an older format one of this."""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache

SCHEMA = 4
# "memq" in ASCII: tells our file from another program's, also with SQLite's own tools.
APPLICATION = 0x6D656D71
UID_DIGITS = 32

INTERVIEWS = """
    CREATE TABLE interviews (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,
        finished TEXT,
        mode TEXT NOT NULL,
        options TEXT NOT NULL,
        marks TEXT,
        marked TEXT,
        version TEXT NOT NULL
    )
    """
INTERVIEW_LINES = """
    CREATE TABLE interview_lines (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        interview_id INTEGER NOT NULL REFERENCES interviews (id),
        seconds REAL NOT NULL,
        typed TEXT NOT NULL,
        answered TEXT NOT NULL,
        version TEXT NOT NULL
    )
    """
LINES_BY_INTERVIEW = "CREATE INDEX lines_by_interview ON interview_lines (interview_id, id)"

TABLES = (
    """
    CREATE TABLE sets (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL,
        created TEXT NOT NULL,
        finished TEXT,
        options TEXT NOT NULL,
        problems TEXT NOT NULL,
        version TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL,
        set_id INTEGER NOT NULL REFERENCES sets (id),
        position INTEGER NOT NULL,
        problem TEXT NOT NULL,
        topic TEXT NOT NULL,
        level TEXT,
        tells TEXT,
        typed TEXT NOT NULL,
        parsed TEXT,
        score REAL NOT NULL,
        verdict TEXT NOT NULL,
        mistake TEXT,
        held INTEGER,
        own TEXT,
        overruled TEXT,
        feedback TEXT NOT NULL,
        hints INTEGER NOT NULL,
        seconds REAL NOT NULL,
        answered TEXT NOT NULL,
        undone TEXT,
        version TEXT NOT NULL
    )
    """,
    "CREATE INDEX attempts_by_set ON attempts (set_id, position)",
    "CREATE UNIQUE INDEX sets_by_uid ON sets (uid)",
    "CREATE UNIQUE INDEX attempts_by_uid ON attempts (uid)",
    INTERVIEWS,
    INTERVIEW_LINES,
    LINES_BY_INTERVIEW,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
)

# What makes a file of each format one of the next.
MIGRATIONS = {
    1: (
        "ALTER TABLE attempts ADD COLUMN held INTEGER",
        "ALTER TABLE attempts ADD COLUMN own TEXT",
    ),
    # What was understood is JSON; a yes or no stood in a column of its own, which is left alone.
    2: (
        """UPDATE attempts SET parsed = '{"fraction": "' || parsed || '"}'
            WHERE parsed LIKE '%/%' AND parsed NOT LIKE '[%'""",
        """UPDATE attempts SET parsed = '{"yes": ' || CASE said WHEN 0 THEN 'false' ELSE 'true' END
            || ', "number": ' || coalesce(parsed, 'null') || '}'
            WHERE said IS NOT NULL""",
    ),
    # A row's name comes from what never changes in it: two copies of a file name it alike.
    3: (
        "ALTER TABLE sets ADD COLUMN uid TEXT",
        "UPDATE sets SET uid = named('set', id, created, problems)",
        "CREATE UNIQUE INDEX sets_by_uid ON sets (uid)",
        "ALTER TABLE attempts ADD COLUMN uid TEXT",
        """UPDATE attempts SET uid = named('answer', id, position, problem, typed, answered,
            (SELECT uid FROM sets WHERE sets.id = set_id))""",
        "CREATE UNIQUE INDEX attempts_by_uid ON attempts (uid)",
        "ALTER TABLE attempts ADD COLUMN level TEXT",
        "ALTER TABLE attempts ADD COLUMN tells TEXT",
        "ALTER TABLE attempts ADD COLUMN overruled TEXT",
        INTERVIEWS,
        INTERVIEW_LINES,
        LINES_BY_INTERVIEW,
    ),
}


def migrate(connection: sqlite3.Connection) -> None:
    """Bring tables of an older format to this one, inside the transaction that is open.

    Raises:
        sqlite3.DatabaseError: they cannot be changed; the transaction is to be rolled back.
    """
    connection.create_function("named", -1, _named, deterministic=True)
    kept = int(connection.execute("PRAGMA user_version").fetchone()[0])
    for number in range(kept, SCHEMA):
        for statement in MIGRATIONS[number]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _named(*values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:UID_DIGITS]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as the tables declare it.

    Args:
        kind: of Python, as SQLite gives it.
        of: the table whose row it refers to; "" where it holds a value of its own.
    """

    name: str
    kind: type
    required: bool
    of: str = ""


KINDS = {"TEXT": str, "INTEGER": int, "REAL": float}
NAMES = ("sets", "attempts", "interviews", "interview_lines")


@cache
def columns() -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table but for its own key, in their order."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in TABLES:
            connection.execute(statement)
        return {name: tuple(_columns(connection, name)) for name in NAMES}


def _columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    # A name comes from `NAMES`: SQLite takes none as a parameter here.
    of = {row[3]: row[2] for row in connection.execute(f"PRAGMA foreign_key_list({table})")}
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [
        Column(name=name, kind=KINDS[kind], required=bool(required), of=of.get(name, ""))
        for _, name, kind, required, _, key in rows
        if not key
    ]
