"""What a set is made of: parts with so many questions of a topic, at a level, of some kinds."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, get_args

from engine.errors import Fault, InputError, unknown
from engine.fields import show, text_of
from problems.answers.registry import types
from problems.kind import Kind
from problems.own_folders import own_folders
from problems.problem import TOPICS, Level
from problems.registry import build, kinds
from quiz.practice.questions import topic_key

LEVELS = get_args(Level)
MOST = 200
LONGEST_TITLE = 120
# Seeds by which a kind is known to have a type of answer: few kinds have more than one.
LOOKED_AT = 4
MOST_POINTS = 10_000
DAY = 1440
TITLE = "Will it fit?"
SET_KEYS = ("title", "minutes", "part")
PART_KEYS = ("topic", "level", "kinds", "types", "count", "points", "minutes", "same")


@dataclass(frozen=True, kw_only=True)
class Part:
    """So many questions of some kinds.

    Args:
        kinds: those that the questions are drawn from, each before any comes twice.
        levels: those at which they are asked.
        types: of answer that the questions have; none where any will do.
        count: how many.
        points: what a right answer is worth.
        minutes: for each; None is the estimate.
        same: whether every student has the same problem.
    """

    kinds: tuple[Kind, ...]
    levels: tuple[Level, ...] = LEVELS
    types: tuple[str, ...] = ()
    count: int
    points: Fraction = Fraction(1)
    minutes: Fraction | None = None
    same: bool = False


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """What a set is made of.

    Args:
        title: what stands above the sheet.
        parts: in the order of the sheet.
        minutes: that the sheet may take; None where nothing is said.
    """

    title: str = TITLE
    parts: tuple[Part, ...]
    minutes: Fraction | None = None


def read_blueprint(path: Path) -> Blueprint:
    """Read a blueprint in TOML.

    Raises:
        InputError: the file cannot be read, or listing everything in it that is no blueprint.
    """
    text = text_of(path, "blueprint in TOML")
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(Fault(str(path), f"is not TOML: {error}")) from None
    return blueprint_of(tables, str(path))


def blueprint_of(tables: Mapping[str, Any], where: str) -> Blueprint:
    """Return the blueprint that tables of a file, or options in their place, describe.

    Raises:
        InputError: listing everything that is wrong.
    """
    faults = [unknown(where, str(key)[:40], SET_KEYS) for key in tables if key not in SET_KEYS]
    title = tables.get("title", TITLE)
    if not isinstance(title, str) or not title.strip() or len(title) > LONGEST_TITLE:
        faults.append(Fault(f"{where}: title", f"{show(title)} is no title"))
    minutes = tables.get("minutes")
    if minutes is not None and not _is_number(minutes, 1, DAY):
        faults.append(Fault(f"{where}: minutes", f"{show(minutes)} is no number of minutes"))
    written = tables.get("part")
    if not isinstance(written, list) or not written:
        faults.append(Fault(where, "has no part", 'write [[part]], topic = "A" and count = 3'))
        written = []
    parts = [_part(one, f"{where}, part {at}", faults) for at, one in enumerate(written, 1)]
    if sum(part.count for part in parts if part) > MOST:
        faults.append(Fault(where, f"more than {MOST} questions", "make it two sets"))
    if faults:
        raise InputError(*faults)
    return Blueprint(
        title=" ".join(title.split()),
        parts=tuple(part for part in parts if part),
        minutes=None if minutes is None else Fraction(minutes),
    )


def _part(written: object, where: str, faults: list[Fault]) -> Part | None:
    """Return a part, or None behind the faults that are noted."""
    if not isinstance(written, Mapping):
        faults.append(Fault(where, "is no table", 'write [[part]] and topic = "A" below'))
        return None
    found = [*_part_faults(written, where)]
    faults += found
    if found:
        return None
    levels = _listed(written.get("level", LEVELS))
    fitting = tuple(_fitting(written, levels))
    if not fitting:
        faults.append(Fault(where, "no kind of question fits", "see memquiz catalog kinds"))
        return None
    minutes = written.get("minutes")
    return Part(
        kinds=fitting,
        levels=tuple(level for level in LEVELS if level in levels),
        types=_listed(written.get("types", ())),
        count=written.get("count", 1),
        points=_exactly(written.get("points", 1)),
        minutes=None if minutes is None else _exactly(minutes),
        same=written.get("same", False),
    )


def _part_faults(written: Mapping[str, Any], where: str) -> Iterator[Fault]:
    yield from (
        unknown(where, str(key)[:40], PART_KEYS) for key in written if key not in PART_KEYS
    )
    yield from _name_faults(written, where)
    for key, least, most in (("count", 1, MOST), ("points", 0, MOST_POINTS), ("minutes", 0, DAY)):
        value = written.get(key, 1)
        if not _is_number(value, least, most) or (key == "count" and not isinstance(value, int)):
            what = f"{show(value)} is not in {least} to {most:,}"
            yield Fault(f"{where}: {key}", what, "write a number, without quotes")
    if not isinstance(written.get("same", False), bool):
        yield Fault(f"{where}: same", f"{show(written['same'])} is not true or false")


def _name_faults(written: Mapping[str, Any], where: str) -> Iterator[Fault]:
    topic = written.get("topic")
    if topic is not None and (not isinstance(topic, str) or topic_key(topic) is None):
        known = ", ".join(f"{key} ({title})" for key, title in TOPICS.items())
        yield Fault(f"{where}: topic", f"{show(topic)} is no topic", f"topics: {known}")
    for key, names in (("level", LEVELS), ("kinds", tuple(kinds())), ("types", tuple(types()))):
        for name in _listed(written.get(key, ())):
            if name not in names:
                yield unknown(f"{where}: {key}", str(name)[:40], names)


def _fitting(written: Mapping[str, Any], levels: Sequence[str]) -> Iterator[Kind]:
    topic, named = written.get("topic"), _listed(written.get("kinds", ()))
    wanted = _listed(written.get("types", ()))
    for kind in kinds().values():
        if (
            (topic is None or kind.topic == topic_key(topic))
            and (not named or kind.name in named)
            and set(kind.levels) & set(levels)
            and (not wanted or _has_one_of(kind, wanted))
        ):
            yield kind


def _has_one_of(kind: Kind, wanted: Sequence[str]) -> bool:
    return not _types(kind.name, own_folders()).isdisjoint(wanted)


@cache
def _types(kind: str, folders: tuple[Path, ...]) -> frozenset[str]:
    """Return the types of answer that a kind of the bank or of these folders is known to have."""
    del folders
    return frozenset(build(kind, seed).answer.type for seed in range(LOOKED_AT))


def _listed(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _is_number(value: object, least: int, most: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value <= most


def _exactly(value: float) -> Fraction:
    """Return a number of a file as it was written: 0.1 is a tenth."""
    return Fraction(str(value))
