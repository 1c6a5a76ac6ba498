"""Claims about memory that a learner judges, read from tables when asked for.

Each says whether it is true, which points a full answer makes, and which false statements people
make about it.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from engine.discovery import repeated
from engine.errors import Fault, InputError, unknown

DATA = Path(__file__).parent / "data" / "claims"
REASONS = DATA.parent / "reasons"
FALSEHOODS = DATA.parent / "falsehoods.toml"

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A reason that a good answer gives.

    Args:
        id: as it is credited: "own-activations".
        says: one sentence that a learner is shown.
        core: whether it carries the verdict by itself.
    """

    id: str
    says: str
    core: bool


@dataclass(frozen=True, kw_only=True)
class FalseStatement:
    """Something false that people say.

    Args:
        id: as it is named: "activations-sharded".
        says: the statement.
        why: why it is false, in one sentence.
        misconception: whether it takes the claim the wrong way round.
        unless: claims of whose answers it is no part, as its words mean something else there.
    """

    id: str
    says: str
    why: str
    misconception: bool = False
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence that is true or false, and what there is to say about it.

    Args:
        id: as it is asked for: "zero3-activations".
        claim: the sentence.
        truth: whether it is true.
        negative: whether it denies something, so that "it does" contradicts it.
        core: what a full answer says.
        hint: a question that leads to the reason and tells neither it nor the verdict.
        points: reasons, core ones first.
        errors: false statements.
        beside: claims whose reason sounds near and is beside the point here.
        source: where the facts stand.

    Raises:
        InputError: listing every way in which the parts do not fit.
    """

    id: str
    claim: str
    truth: bool
    negative: bool = False
    core: str
    hint: str
    points: tuple[Point, ...]
    errors: tuple[FalseStatement, ...]
    beside: tuple[str, ...] = ()
    source: str

    def __post_init__(self) -> None:
        faults = tuple(_faults(self))
        if faults:
            raise InputError(*faults)

    @property
    def reason(self) -> str:
        """What a full answer says, without the verdict that may stand before it."""
        said = self.core.removeprefix("True: ").removeprefix("False: ")
        return said[:1].upper() + said[1:]

    @property
    def statements(self) -> tuple[Point | FalseStatement, ...]:
        """Every point and every false statement."""
        return (*self.points, *self.errors)

    def point(self, name: str) -> Point:
        """Return the point with this id."""
        return next(point for point in self.points if point.id == name)


@cache
def claims() -> Mapping[str, Claim]:
    """Return every claim by its id.

    Raises:
        InputError: a table does not hold what a claim needs.
    """
    return _of(DATA)


@cache
def with_reasons() -> Mapping[str, Claim]:
    """Return every claim whose reason may be picked: those of `claims` and further ones.

    Raises:
        InputError: a table does not hold what a claim needs.
    """
    return _of(DATA, REASONS)


@cache
def falsehoods() -> tuple[FalseStatement, ...]:
    """Return false statements about the field, which may be heard in an answer to any claim."""
    rows = tomllib.loads(FALSEHOODS.read_text(encoding="utf-8"))
    return tuple(_built(FalseStatement, name, row) for name, row in rows.items())


def claim(name: str) -> Claim:
    """Return the claim with this id.

    Raises:
        InputError: with near names, where there is none.
    """
    known = claims()
    if name not in known:
        raise InputError(unknown("claim", name[:60], tuple(known)))
    return known[name]


def _of(*folders: Path) -> Mapping[str, Claim]:
    files = sorted(file for folder in folders for file in folder.glob("*.toml"))
    rows = [(name, row) for file in files for name, row in _table(file).items()]
    if twice := repeated(name for name, _ in rows):
        raise InputError(*(Fault(f"claims.{name}", "stands twice") for name in twice))
    return MappingProxyType({name: _claim(name, row) for name, row in rows})


def _table(file: Path) -> Mapping[str, Mapping[str, object]]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(Fault(str(file), str(error), "correct the table")) from None


def _claim(name: str, row: Mapping[str, object]) -> Claim:
    points = [_built(Point, key, part) for key, part in _parts(row.get("points"))]
    errors = [_built(FalseStatement, key, part) for key, part in _parts(row.get("errors"))]
    parts = {"points": sorted(points, key=lambda point: not point.core), "errors": errors}
    return _built(Claim, name, {**row, **parts})


def _parts(table: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    if isinstance(table, dict):
        yield from table.items()


def _built(kind: Callable[..., T], name: str, row: Mapping[str, object]) -> T:
    """Return a value from a row of a table, whose lists become tuples."""
    values = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    try:
        return kind(id=name, **values)
    except TypeError as error:
        raise InputError(Fault(f"claims.{name}", str(error), "correct the table")) from None


def _faults(claim: Claim) -> Iterator[Fault]:
    where = f"claims.{claim.id}"
    for key in ("claim", "core", "hint", "source"):
        if not getattr(claim, key).strip():
            yield Fault(f"{where}.{key}", "says nothing")
    if not any(point.core for point in claim.points):
        yield Fault(f"{where}.points", "has no core point", "mark one with core = true")
    if not any(error.misconception for error in claim.errors):
        yield Fault(f"{where}.errors", "has no misconception", "say what a wrong verdict rests on")
    for part in claim.statements:
        if not part.says.strip():
            yield Fault(f"{where}.{part.id}", "says nothing")
