"""Rows of the learner's file as they leave it and come back, held to what they mean."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from problems.problem import TOPICS, Level
from quiz.history.schema import Column, columns
from quiz.marking.parsed import EXACT
from quiz.marking.verdict import LABELS, Mark

Value = str | int | float | None

UID = re.compile(r"[!-~]{1,64}")
FRACTION = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?")
LARGEST = 2**63
# A clock that was never set begins in 1970; far ahead, no date would be left for what is due.
YEARS = range(1970, 3000)
REFERENCE = "_id"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table, wherever it is.

    Args:
        values: of all its columns but its key; what it refers to, by uid.
        line: of the file that it was read from; 0 where it comes from the learner's own.
        key: in the learner's own file; 0 where it comes from another.
    """

    table: str
    values: Mapping[str, Value]
    line: int = 0
    key: int = 0

    @property
    def uid(self) -> str:
        """What names it, in whichever file."""
        return str(self.values["uid"])

    @property
    def refers(self) -> Iterator[tuple[str, str]]:
        """Table and uid of each row that it belongs to."""
        for column in columns()[self.table]:
            if column.of:
                yield column.of, str(self.values[outside(column)])


def outside(column: Column) -> str:
    """Return what a column is called outside the file: a key that holds only there has a uid."""
    return column.name.removesuffix(REFERENCE) if column.of else column.name


def row_from(table: str, values: Mapping[str, Any], line: int) -> Row | tuple[str, ...]:
    """Return the row that `values` of whatever kind are, or everything that is wrong with them."""
    known = {outside(column): column for column in columns()[table]}
    wrong = [f"{name} is missing" for name in known if name not in values]
    wrong += [f"{name[:40]!r} is no column of {table}" for name in values if name not in known]
    for name, column in known.items():
        if name in values and (what := _wrong(column, values[name])):
            wrong.append(f"{name} {what}")
    if wrong:
        return tuple(wrong)
    kinds = {name: column.kind for name, column in known.items()}
    read = {name: float(x) if kinds[name] is float else x for name, x in values.items()}
    return Row(table=table, values={name: read[name] for name in known}, line=line)


def _wrong(column: Column, value: object) -> str:
    if value is None:
        return "has no value" if column.required else ""
    if column.of:
        return "" if _is_uid(value) else "is no uid"
    wrong_kind = KINDS[column.kind](value)
    if wrong_kind:
        return wrong_kind
    means = MEANINGS.get(column.name)
    if means is None:
        return ""
    says, check = means
    return "" if check(value) else f"is not {says}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        return "is no text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "has half of a character"
    return ""


def _whole(value: object) -> str:
    if type(value) is not int:
        return "is no whole number"
    return "" if -LARGEST <= value < LARGEST else "is too large"


def _number(value: object) -> str:
    if type(value) is int:
        return "" if abs(value) < LARGEST else "is too large"
    return "" if isinstance(value, float) and math.isfinite(value) else "is no number"


KINDS: Mapping[type, Callable[[object], str]] = {str: _text, int: _whole, float: _number}


def _is_uid(value: object) -> bool:
    return isinstance(value, str) and bool(UID.fullmatch(value))


def _is_moment(value: str) -> bool:
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return False
    return read.utcoffset() == timedelta(0) and read.year in YEARS


def moment(value: Value) -> datetime:
    """Return when it was, long ago where it never was."""
    return (
        datetime.min.replace(tzinfo=UTC) if value is None else datetime.fromisoformat(str(value))
    )


def _json_that(check: Callable[[Any], bool]) -> Callable[[str], bool]:
    def holds(text: str) -> bool:
        try:
            return check(json.loads(text))
        except (ValueError, RecursionError):
            return False

    return holds


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_parsed(value: object) -> bool:
    match value:
        case bool() | str() | int() | None:
            return True
        case list():
            return all(map(_is_parsed, value))
        case dict() if value.keys() == {EXACT}:
            return isinstance(value[EXACT], str) and bool(FRACTION.fullmatch(value[EXACT]))
        case dict():
            return all(map(_is_parsed, value.values()))
        case _:
            return False


# What the values of a column mean, and whether one does.
MOMENT = (
    f"a moment from {YEARS[0]} to {YEARS[-1]}, as 2026-11-30T18:05:00.000+00:00",
    _is_moment,
)
COUNT = "a count", lambda value: value >= 0
MEANINGS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "uid": ("a uid: 1 to 64 letters, digits and signs", _is_uid),
    **dict.fromkeys(("created", "finished", "answered", "undone", "overruled", "marked"), MOMENT),
    "options": ("an object in JSON", _json_that(lambda value: isinstance(value, dict))),
    "problems": ("a list of ids in JSON", _json_that(_names)),
    "tells": ("a list of names in JSON", _json_that(_names)),
    "parsed": ("JSON of what was understood", _json_that(_is_parsed)),
    "marks": ("JSON", _json_that(lambda _: True)),
    "topic": (f"one of {', '.join(TOPICS)}", TOPICS.__contains__),
    "level": (f"one of {', '.join(get_args(Level))}", get_args(Level).__contains__),
    "verdict": (f"one of {', '.join(get_args(Mark))}", get_args(Mark).__contains__),
    "own": (f"one of {', '.join(LABELS)}", LABELS.__contains__),
    "score": ("from 0 to 1", lambda value: 0 <= value <= 1),
    "held": ("0 or 1", lambda value: value in {0, 1}),
    "position": COUNT,
    "hints": COUNT,
    "seconds": COUNT,
}
