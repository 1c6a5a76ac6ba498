"""The learner's file as JSON lines: a header that counts, then an object a row."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Never, final

from engine.errors import Fault, InputError
from quiz.history.rows import Row, outside, row_from
from quiz.history.schema import NAMES, SCHEMA, columns

MAGIC, WHAT = "memquiz", "history"
TABLE = "table"
# The order of rows; those of one moment stay in the order in which they were written.
ORDERS = {
    "sets": "sets.created, sets.id",
    "attempts": "attempts.answered, attempts.position, attempts.id",
    "interviews": "interviews.created, interviews.id",
    "interview_lines": "interviews.created, interviews.id, interview_lines.id",
}
# In characters: an interview's script or a set of thousands of questions is far below.
LONGEST = 4_000_000
MOST_FAULTS = 100
# Of a file in UTF-16, in bytes.
MOST_AT_ONCE = 10**9
MADE_BY = "such a file is made by: memquiz history export FILE"


def kept_rows(connection: sqlite3.Connection) -> tuple[Row, ...]:
    """Return every row of the learner's file, table by table."""
    return tuple(row for table in NAMES for row in rows_of(connection, table))


def counts_of(rows: Iterable[Row]) -> dict[str, int]:
    """Return how many rows there are of each table."""
    return dict.fromkeys(NAMES, 0) | Counter(row.table for row in rows)


def exported(rows: Iterable[Row]) -> Iterator[str]:
    """Yield each row as a line of ASCII with its newline, behind the header."""
    rows = tuple(rows)
    yield _line({MAGIC: WHAT, "format": SCHEMA, **counts_of(rows)})
    for row in rows:
        yield _line({TABLE: row.table, **row.values})


def rows_of(connection: sqlite3.Connection, table: str) -> tuple[Row, ...]:
    """Return the rows of a table in the order in which they are exported."""
    named = [outside(column) for column in columns()[table]]
    selected = [f"{table}.id"]
    joined = [table]
    for column in columns()[table]:
        selected.append(f"{column.of}.uid" if column.of else f"{table}.{column.name}")
        if column.of:
            joined += ["JOIN", column.of, "ON", f"{column.of}.id = {table}.{column.name}"]
    words = ["SELECT", ", ".join(selected), "FROM", *joined, "ORDER BY", ORDERS[table]]
    return tuple(
        Row(table=table, key=key, values=dict(zip(named, values, strict=True)))
        for key, *values in connection.execute(" ".join(words))
    )


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, allow_nan=False) + "\n"


def read_rows(stream: BinaryIO, said: str) -> tuple[Row, ...]:
    """Return the rows of an exported file: all of them are sound, or none is returned.

    Args:
        stream: UTF-8, or UTF-16 behind its mark, as some shells redirect.
        said: what the file is called.

    Raises:
        InputError: with each line that cannot be used and why, up to a hundred.
        OSError: it cannot be read.
    """
    reader = Reader(said)
    reader.read(stream)
    if reader.faults:
        raise InputError(*reader.faults)
    return tuple(reader.rows)


class _UnusableError(ValueError):
    """A line that is no object of JSON."""


@final
class Reader:
    """Reads lines one by one, and stops where it makes no sense to go on."""

    def __init__(self, said: str) -> None:
        self.rows: list[Row] = []
        self.faults: list[Fault] = []
        self._said = said
        self._counts: dict[str, int] = {}
        self._seen: dict[tuple[str, str], int] = {}

    def read(self, stream: BinaryIO) -> None:
        """Read to the end, or to the first hundred faults."""
        number = 0
        for number, line in enumerate(_lines(stream), 1):
            if number == 1:
                if not self._header(line):
                    return
            elif number > 1 + sum(self._counts.values()):
                self._fault(number, "stands behind all rows that the header counts")
                return
            else:
                self._row(number, line)
            if len(line) > LONGEST or len(self.faults) >= MOST_FAULTS:
                return
        if number == 0:
            self._fault(1, "is not there: the file is empty", MADE_BY)
        elif not self.faults:
            self._ended()

    def _header(self, line: str) -> bool:
        """Take what the first line says; False where the file is none of ours."""
        try:
            header = _object(line)
        except _UnusableError as error:
            self._fault(1, f"{error}, where the header of a history stands", MADE_BY)
            return False
        kept = header.get("format")
        if header.get(MAGIC) != WHAT or type(kept) is not int:
            self._fault(1, "is no header of a history", MADE_BY)
        elif kept > SCHEMA:
            what = f"says format {kept}, of a newer memquiz; this one reads {SCHEMA}"
            self._fault(1, what, "update memquiz")
        elif kept < SCHEMA:
            self._fault(1, f"says format {kept}, which no memquiz exports", MADE_BY)
        elif header.keys() != {MAGIC, "format", *NAMES} or not all(
            type(header[name]) is int and header[name] >= 0 for name in NAMES
        ):
            self._fault(1, f"does not count {', '.join(NAMES)}", MADE_BY)
        else:
            self._counts = {name: header[name] for name in NAMES}
        return bool(self._counts)

    def _row(self, number: int, line: str) -> None:
        try:
            values = _object(line)
        except _UnusableError as error:
            self._fault(number, str(error))
            return
        table = values.pop(TABLE, None)
        if table not in NAMES:
            self._fault(number, f"{TABLE} is not one of {', '.join(NAMES)}")
            return
        row = row_from(table, values, number)
        if not isinstance(row, Row):
            self._fault(number, "; ".join(row))
            return
        first = self._seen.setdefault((table, row.uid), number)
        if first != number:
            self._fault(number, f"has the uid of line {first}")
        self.rows.append(row)

    def _ended(self) -> None:
        read = counts_of(self.rows)
        for table, counted in self._counts.items():
            there = read[table]
            if there != counted:
                what = f"counts {counted} {table}, and {there} are there"
                self._fault(1, what, "is the file whole? export it again")

    def _fault(self, number: int, what: str, following: str = "") -> None:
        self.faults.append(Fault(f"{self._said}, line {number}", what, following))


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines, one that is too long cut behind the longest that can be used."""
    first = stream.readline(LONGEST + 1)
    if first[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        whole = first + stream.read(MOST_AT_ONCE)
        yield from whole.decode("utf-16", errors="replace").splitlines(keepends=True)
        return
    line = first.removeprefix(b"\xef\xbb\xbf")
    while line:
        # What is no UTF-8 becomes halves of characters, which no value may have.
        yield line.decode("utf-8", errors="surrogateescape")
        line = stream.readline(LONGEST + 1)


def _object(line: str) -> dict[str, Any]:
    if len(line) > LONGEST:
        raise _UnusableError("is too long")
    try:
        value = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
    except _UnusableError:
        raise
    except (ValueError, RecursionError) as error:
        raise _UnusableError("is no JSON") from error
    if not isinstance(value, dict):
        raise _UnusableError("is no object of JSON")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _UnusableError("names a column twice")
    return found


def _no_number(name: str) -> Never:
    raise _UnusableError(f"has {name}, which is no number")
