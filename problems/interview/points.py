"""The table of points: what is listened for in an interview, and the words it is heard by."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

Listened = Literal["conditions", "terms", "exclusions", "verification"]
LISTENED: Final[tuple[Listened, ...]] = get_args(Listened)
TABLE: Final = Path(__file__).parent.parent / "data" / "interview_points.toml"
KEYS: Final = {"aspects", "phrases"}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PHRASE = re.compile(r"[a-z0-9/.+]+( [a-z0-9/.+]+)*")


@dataclass(frozen=True, kw_only=True)
class HeardBy:
    """A point with the words that it is heard by.

    Args:
        name: unique, such as "micro-batch".
        aspects: where it is listened for.
        phrases: groups of lower-case words, any of which is enough: "batch size", "mbs".
    """

    name: str
    aspects: tuple[Listened, ...]
    phrases: tuple[str, ...]


@cache
def table() -> Mapping[str, HeardBy]:
    """Return every point by name, as they stand in the table.

    Raises:
        ValueError: a row cannot be used; every fault is listed with its row.
    """
    return read(TABLE.read_text(encoding="utf-8"))


def read(text: str) -> Mapping[str, HeardBy]:
    """Return the points of a table in TOML.

    Raises:
        ValueError: it is no TOML, or a row cannot be used; every fault is listed with its row.
    """
    rows = tomllib.loads(text)
    if faults := [fault for name, row in rows.items() for fault in _faults(name, row)]:
        raise ValueError("; ".join(faults))
    return MappingProxyType(
        {
            name: HeardBy(name=name, aspects=tuple(row["aspects"]), phrases=tuple(row["phrases"]))
            for name, row in rows.items()
        }
    )


def _faults(name: str, row: Any) -> Iterator[str]:  # noqa: ANN401 - as TOML has it
    if not NAME.fullmatch(name):
        yield f"{name!r} is no name: words of a-z and 0-9 with a hyphen between them"
    if not isinstance(row, dict) or row.keys() != KEYS:
        yield f"{name!r} does not have aspects and phrases, and nothing else"
    elif bad := [key for key in sorted(KEYS) if not _is_list(row[key])]:
        yield from (f"{name!r}: {key} is no list of words, empty, or has one twice" for key in bad)
    else:
        for aspect in row["aspects"]:
            if aspect not in LISTENED:
                yield f"{name!r}: {aspect!r} is none of {', '.join(LISTENED)}"
        for phrase in row["phrases"]:
            if not PHRASE.fullmatch(phrase):
                yield f"{name!r}: {phrase!r} is no group of lower-case words"


def _is_list(values: Any) -> bool:  # noqa: ANN401 - as TOML has it
    words = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return words and 0 < len(set(values)) == len(values)
