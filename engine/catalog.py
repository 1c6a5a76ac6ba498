"""The models and accelerators that are known by name, read from two TOML tables when asked for."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from engine.accelerator import Accelerator
from engine.architecture import Architecture, Experts, LatentAttention
from engine.errors import Fault, InputError, unknown

DATA = Path(__file__).parent / "data"

Row = Mapping[str, object]
T = TypeVar("T")

# What people put around a name: an owner before it, a file format or a training stage after it.
SUFFIXES = re.compile(r"(-hf|-base|-instruct|-it|-chat|-v0\.1)+$")
PREFIXES = ("meta-", "nvidia-", "amd-", "instinct-", "geforce-", "tesla-")
# What nvidia-smi prints behind a GPU's name; 480GB is the memory of a GH200's processor.
BEHIND = re.compile(r"(-hbm3e?|-generation|(?<=^gh200)-480gb)$")
MAKERS = {"", "nvidia", "amd", "instinct", "geforce", "tesla"}
# Names that are kept once they were found: a key of a class has thousands of scenarios.
LOOKED_UP = 1_000
MEMORY_SIZE = re.compile(r"\d+gb")


@dataclass(frozen=True, kw_only=True)
class CatalogModel:
    """A published model.

    Args:
        name: as it is typed, such as "llama-3-8b".
        title: as it is shown, such as "Llama 3 8B".
        architecture: its sizes and switches.
        max_sequence: tokens of the longest sequence that its publisher names.
        parameters: what the published checkpoint holds, the same as the architecture gives.
        source: where the sizes were read.
        checked: the day on which they were, YYYY-MM-DD.

    Raises:
        InputError: the architecture has another number of parameters.
    """

    name: str
    title: str
    architecture: Architecture
    max_sequence: int
    parameters: int
    source: str
    checked: str

    def __post_init__(self) -> None:
        counted = self.architecture.parameters
        if counted != self.parameters:
            what = f"{self.parameters:,} published, but the shape has {counted:,}"
            raise InputError(Fault(f"models.{self.name}.parameters", what, "correct the shape"))


@cache
def models() -> Mapping[str, CatalogModel]:
    """Return every catalogued model by name."""
    return MappingProxyType({name: _model(name) for name in _rows("models")})


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """Return every catalogued accelerator by name."""
    return MappingProxyType({name: _accelerator(name) for name in _rows("accelerators")})


@lru_cache(maxsize=LOOKED_UP)
def model(name: str) -> CatalogModel:
    """Return one model, by its name or a spelling such as "meta-llama/Llama-3-8B".

    Raises:
        InputError: with near names, where the name is not known.
    """
    return _model(_known("model.name", name, tuple(_rows("models"))))


@lru_cache(maxsize=LOOKED_UP)
def accelerator(name: str) -> Accelerator:
    """Return one accelerator, by its name or a spelling such as "NVIDIA A100-SXM4-80GB".

    Raises:
        InputError: with near names, where the name is not known or could be one of several.
    """
    known = _titled(name) or _known("hardware.gpu", name, tuple(_rows("accelerators")))
    return _accelerator(known)


def model_from_row(name: str, row: Row) -> CatalogModel:
    """Build a model from a row of the table.

    Raises:
        InputError: listing the keys that are unknown or missing, and a source or date not given.
    """
    where = f"models.{name}"
    _refuse(where, row, _keys(CatalogModel, "name", "architecture") | {"shape": True})
    values = dict(row)
    architecture = architecture_from_shape(f"{where}.shape", values.pop("shape"))
    return _built(CatalogModel, values | {"name": name, "architecture": architecture})


def architecture_from_shape(where: str, table: object) -> Architecture:
    """Build an architecture from a table of its fields; `experts` and `latent` are tables too.

    Raises:
        InputError: listing the keys that are unknown, missing or of the wrong kind.
    """
    shape = _table(where, table)
    built = {
        key: _part(f"{where}.{key}", part, shape.pop(key))
        for key, part in (("experts", Experts), ("latent", LatentAttention))
        if key in shape
    }
    try:
        _refuse(where, shape, _keys(Architecture))
    except InputError as error:
        raise InputError(*error.faults, *_faults_of_values(shape)) from None
    return _built(Architecture, shape | built)


def _faults_of_values(shape: Mapping[str, object]) -> tuple[Fault, ...]:
    """Return what is wrong with the sizes that are there, where others are missing."""
    keys = _keys(Architecture)
    missing = {key for key, needed in keys.items() if needed and key not in shape}
    known = {key: value for key, value in shape.items() if key in keys}
    try:
        _built(Architecture, dict.fromkeys(missing, 1) | known)
    except InputError as error:
        compared = missing & {"hidden", "heads"}
        return tuple(f for f in error.faults if not compared or "divide" not in f.what)
    return ()


def accelerator_from_row(name: str, row: Row) -> Accelerator:
    """Build an accelerator from a row of the table.

    Raises:
        InputError: listing the keys that are unknown or missing, and a source or date not given.
    """
    _refuse(f"accelerators.{name}", row, _keys(Accelerator, "name"))
    return _built(Accelerator, dict(row) | {"name": name})


@cache
def _model(name: str) -> CatalogModel:
    return model_from_row(name, _rows("models")[name])


@cache
def _accelerator(name: str) -> Accelerator:
    return accelerator_from_row(name, _rows("accelerators")[name])


@cache
def _rows(table: str) -> Mapping[str, Row]:
    return MappingProxyType(tomllib.loads((DATA / f"{table}.toml").read_text(encoding="utf-8")))


def _titled(name: str) -> str | None:
    """Return the one accelerator whose title has the words of `name`, and but its size besides."""
    typed = _words(name)
    found = []
    for known, row in _rows("accelerators").items():
        title = _words(str(row["title"]))
        sockets = {word for word in title if word.startswith("sxm")}
        said = typed - {"sxm"} | sockets if sockets and "sxm" in typed else typed
        if said <= title and all(MEMORY_SIZE.fullmatch(word) for word in title - said):
            found.append(known)
    return found[0] if len(found) == 1 else None


def _words(name: str) -> set[str]:
    return set(re.split(r"[\s,_-]+", name.lower()[:200])) - MAKERS


def _known(where: str, name: str, names: tuple[str, ...]) -> str:
    """Return the one of `names` that `name` spells."""
    spellings = list(_spellings(name))
    for spelling in spellings:
        found = [known for known in names if _bare(known) == _bare(spelling)]
        if len(found) == 1:
            return found[0]
    longer = [known for known in names if known.startswith(spellings[-1] + "-")]
    hint = f"did you mean {' or '.join(longer[:3])}?" if longer else ""
    fault = unknown(where, spellings[-1], names)
    raise InputError(Fault(where, f"{name[:60]!r} is not known", hint or fault.next))


def _spellings(name: str) -> Iterator[str]:
    """Yield `name` in catalogue form, then without its owner, its maker and its suffixes."""
    name = name.strip().lower()[:200]
    yield re.sub(r"(?<=\d)_(?=\d)", ".", name.rpartition("/")[2])
    name = re.sub(r"[\s_]+", "-", name)
    yield name
    name = name.rpartition("/")[2]
    yield name
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    yield name
    yield BEHIND.sub("", name)
    yield SUFFIXES.sub("", name)


def _bare(name: str) -> str:
    """Return `name` without the hyphens that people leave out: all but those between digits."""
    return re.sub(r"(?<!\d)-|-(?!\d)", "", name)


def _keys(kind: type, *without: str) -> dict[str, bool]:
    """Return each key that a row may have, and whether it must have it."""
    return {
        field.name: field.default is MISSING for field in fields(kind) if field.name not in without
    }


def _refuse(where: str, row: Row, keys: Mapping[str, bool]) -> None:
    faults = [_unknown_key(where, key, keys) for key in row if key not in keys]
    faults += [
        Fault(f"{where}.{key}", "is missing")
        for key, needed in keys.items()
        if needed and key not in row
    ]
    for key, valid in (("source", _is_text), ("checked", _is_date)):
        if key in keys and key in row and not valid(row[key]):
            faults.append(Fault(f"{where}.{key}", f"{row[key]!r} says nothing"))
    if faults:
        raise InputError(*faults)


def _unknown_key(where: str, key: str, keys: Mapping[str, bool]) -> Fault:
    return unknown(where, key, tuple(keys))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _table(where: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InputError(Fault(where, f"{value!r} is not a table"))
    return dict(value)


def _part(where: str, kind: type[T], value: object) -> T:
    row = _table(where, value)
    _refuse(where, row, _keys(kind))
    return _built(kind, row)


def _built(kind: Callable[..., T], values: Mapping[str, object]) -> T:
    return kind(**values)
