"""Kinds that stand outside of the bank: in files of a folder, or in installed packages."""

import inspect
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import get_args

from engine.errors import Fault, InputError
from problems.kind import Kind
from problems.problem import TOPICS, Level

GROUP = "memquiz.kinds"
EXAMPLE = "docs/kinds.md has an example that is whole"


@cache
def kinds_of(folder: Path) -> tuple[Kind, ...]:
    """Return the kinds of all files of a folder whose names do not begin with _.

    Raises:
        InputError: listing every file that cannot be read or has no kind.
    """
    if not folder.is_dir():
        raise InputError(Fault("--kinds", f"{folder} is no folder", "name one with your kinds"))
    files = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    if not files:
        raise InputError(Fault("--kinds", f"{folder} has no .py file", EXAMPLE))
    package, kinds, faults = _package(folder), list[Kind](), list[Fault]()
    for file in files:
        try:
            found = _kinds_in(_imported(f"{package}.{file.stem}", file))
        except InputError as error:
            faults += error.faults
            continue
        kinds += found
        faults += _faults(found, file)
    if faults:
        raise InputError(*faults)
    return tuple(kinds)


@cache
def installed() -> tuple[Kind, ...]:
    """Return the kinds of the entry points of the group "memquiz.kinds": a kind or a module each.

    Raises:
        InputError: listing every entry point that cannot be loaded or has no kind.
    """
    kinds, faults = list[Kind](), list[Fault]()
    for point in entry_points(group=GROUP):
        try:
            value = _loaded(point)
        except InputError as error:
            faults += error.faults
            continue
        found = (value,) if isinstance(value, Kind) else _kinds_in(value)
        kinds += found
        faults += _faults(found, point.value)
    if faults:
        raise InputError(*faults)
    return tuple(kinds)


def place_of(kind: Kind) -> str:
    """Return the file and the line where a kind stands."""
    make = inspect.unwrap(kind.make)
    return f"{inspect.getsourcefile(make)} line {make.__code__.co_firstlineno}"


def is_own(kind: Kind) -> bool:
    """Return whether a kind stands outside of the bank."""
    return not inspect.unwrap(kind.make).__module__.startswith("problems.bank.")


def raised_by(kind: Kind, error: Exception, next_: str) -> Fault:
    """Return what a kind raised, or what was raised over what it returned, as a fault of its file.

    It is at the last line of the file that the exception went through, or where the kind stands.
    """
    file = inspect.getsourcefile(inspect.unwrap(kind.make))
    where = _went_through(error, file) or place_of(kind)
    return Fault(where, _told(error), next_)


def _went_through(error: Exception, file: Path | str | None) -> str:
    """Return the last line of `file` that an exception went through; "" for none."""
    lines = traceback.extract_tb(error.__traceback__)
    inside = [frame.lineno for frame in lines if frame.filename == str(file)]
    return f"{file} line {inside[-1]}" if inside else ""


def _told(error: Exception) -> str:
    told = str(error).partition("\n")[0] or "nothing more is said"
    return f"{type(error).__name__}: {told}"


def _package(folder: Path) -> str:
    """Make a folder a package, so that its files can import each other, and return its name."""
    name = "own_kinds_" + "".join(c if c.isalnum() else "_" for c in str(folder))
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = module_from_spec(spec)
    return name


def _imported(name: str, file: Path) -> ModuleType:
    try:
        return import_module(name)
    except SyntaxError as error:
        # a file that is no text is told without its name
        if error.filename not in {None, str(file)}:
            raise InputError(Fault(str(file), _told(error), "mend it there")) from error
        line = f" line {error.lineno}" if error.lineno else ""
        fault = Fault(f"{file}{line}", f"is no Python: {error.msg}", "mend it there")
        raise InputError(fault) from error
    except Exception as error:
        where = _went_through(error, file) or str(file)
        raise InputError(Fault(where, _told(error), "mend it there")) from error


def _loaded(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:
        where = f"{GROUP}, {point.name} = {point.value}"
        what = f"cannot be loaded: {type(error).__name__}: {error}"
        raise InputError(Fault(where, what, "mend or uninstall its package")) from error


def _kinds_in(module: object) -> tuple[Kind, ...]:
    return tuple(value for value in vars(module).values() if isinstance(value, Kind))


def _faults(found: tuple[Kind, ...], where: Path | str) -> Iterator[Fault]:
    if not found:
        yield Fault(str(where), "has no kind", f"put @kind above a function; {EXAMPLE}")
    for kind in found:
        if kind.topic not in TOPICS:
            known = ", ".join(f"{key} {title}" for key, title in TOPICS.items())
            yield Fault(place_of(kind), f"{kind.topic!r} is no topic", f"topics: {known}")
        for level in set(kind.levels) - set(get_args(Level)):
            known = ", ".join(get_args(Level))
            yield Fault(place_of(kind), f"{level!r} is no level", f"levels: {known}")
        if "@" in kind.name or not kind.name.strip():
            yield Fault(place_of(kind), f"{kind.name!r} is no name", "a name like zero-states")
