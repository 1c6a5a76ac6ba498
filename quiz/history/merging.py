"""Rows of another file put beside those that are there: nothing twice, nothing lost."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import Fault, InputError
from quiz.history.database import Database
from quiz.history.exchange import counts_of, kept_rows
from quiz.history.rows import Row, Value, moment, outside
from quiz.history.schema import NAMES, columns

Values = Mapping[str, Value]
Rank = Callable[[Values], tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What an import did.

    Args:
        added: new rows by table.
        there: rows that were there already.
        further: those of them that the file knew more of.
    """

    added: Mapping[str, int]
    there: int
    further: int


def _when(name: str) -> Rank:
    return lambda row: (moment(row[name]),)


def _own_mark(row: Values) -> tuple[Any, ...]:
    return moment(row["overruled"]), row["own"] is not None


def _marks(row: Values) -> tuple[Any, ...]:
    return moment(row["marked"]), moment(row["finished"]), row["marks"] is not None


def _length(row: Values) -> tuple[Any, ...]:
    return (len(json.loads(str(row["problems"]))),)


# What changes in a row after it was written: the columns, and which of two states is the later.
CHANGING: Mapping[str, tuple[tuple[tuple[str, ...], Rank], ...]] = {
    "sets": ((("finished",), _when("finished")), (("problems",), _length)),
    "attempts": ((("undone",), _when("undone")), (("own", "overruled"), _own_mark)),
    "interviews": ((("marks", "marked"), _marks), (("finished",), _when("finished"))),
    "interview_lines": (),
}


def merge(database: Database, rows: Sequence[Row], said: str) -> Merged:
    """Add rows that are not there, and bring those that are to the later of both states.

    All of it is kept when this returns, or nothing is changed.

    Args:
        database: open to be written.
        rows: no two of one table with the same uid.
        said: what the file that they come from is called.

    Raises:
        InputError: a row belongs to one that is nowhere, or says something else of one that is
            there; every such row is told.
    """
    with database.writing() as connection:
        there = {(row.table, row.uid): row for row in kept_rows(connection)}
        known = {*there, *((row.table, row.uid) for row in rows)}
        faults = [
            Fault(f"{said}, line {row.line}", what, "take the line out, and count without it")
            for row in rows
            if (what := _wrong(row, there.get((row.table, row.uid)), known))
        ]
        if faults:
            raise InputError(*faults)
        new = [row for row in rows if (row.table, row.uid) not in there]
        old = [(row, there[row.table, row.uid]) for row in rows if (row.table, row.uid) in there]
        _insert(connection, new, {name: row.key for name, row in there.items()})
        further = sum(_update(connection, row, kept) for row, kept in old)
    return Merged(added=counts_of(new), there=len(old), further=further)


def _wrong(row: Row, kept: Row | None, known: set[tuple[str, str]]) -> str:
    for table, uid in row.refers:
        if (table, uid) not in known:
            return f"belongs to {uid} of {table}, which is neither here nor there"
    if kept is None:
        return ""
    may_change = {name for names, _ in CHANGING[row.table] for name in names}
    other = [
        name
        for name, value in row.values.items()
        if name not in may_change and value != kept.values[name]
    ]
    if not other:
        return ""
    return f"says something else of {row.uid} than is kept, in {', '.join(other)}"


def _insert(
    connection: sqlite3.Connection, rows: Sequence[Row], keys: dict[tuple[str, str], int]
) -> None:
    """Add rows, those first that others belong to; `keys` of what is there grow with them."""
    for table in NAMES:
        declared = columns()[table]
        names = ", ".join(column.name for column in declared)
        places = ", ".join("?" for _ in declared)
        words = " ".join(("INSERT INTO", table, f"({names})", "VALUES", f"({places})"))
        for row in rows:
            if row.table != table:
                continue
            values = [
                keys[column.of, str(row.values[outside(column)])]
                if column.of
                else row.values[column.name]
                for column in declared
            ]
            connection.execute(words, values)
            key = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
            keys[table, row.uid] = int(key)


def _update(connection: sqlite3.Connection, row: Row, kept: Row) -> bool:
    """Bring a row that is there to the later state; False where it is there already."""
    changed = {
        name: row.values[name]
        for names, rank in CHANGING[row.table]
        if rank(row.values) > rank(kept.values)
        for name in names
    }
    if changed:
        assigned = ", ".join(f"{name} = ?" for name in changed)
        words = ["UPDATE", row.table, "SET", assigned, "WHERE id = ?"]
        connection.execute(" ".join(words), (*changed.values(), kept.key))
    return bool(changed)
