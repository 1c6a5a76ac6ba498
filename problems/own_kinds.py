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


def fault_of(error: Exception, file: Path | str | None, next_: str) -> Fault:
    """Return an exception as a fault at the last line of `file` that it went through."""
    told = str(error).partition("\n")[0] or "nothing more is said"
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return Fault(f"{file} line {error.lineno}", f"is no Python: {error.msg}", next_)
    lines = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in lines if frame.filename == str(file)] or lines[-1:]
    where = f"{inside[-1].filename} line {inside[-1].lineno}"
    return Fault(where, f"{type(error).__name__}: {told}", next_)


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
    except Exception as error:
        raise InputError(fault_of(error, file, "mend it there")) from error


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
