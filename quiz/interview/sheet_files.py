"""Files of an interview in a folder: all of them or none, and nothing else is written over."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from engine.errors import Fault, InputError


def written(option: str, typed: str, files: Mapping[PurePosixPath, bytes]) -> tuple[Path, ...]:
    """Write files into a folder that is made where it is missing, and return their paths.

    Raises:
        InputError: a file of that name says something else, or one cannot be written. What was
            there before is there then, and nothing new.
    """
    folder = Path(typed)
    faults = [*folder_faults(option, typed)] or _taken(option, folder, files)
    if faults:
        raise InputError(*faults)
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, files)
    except OSError as error:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        what = f"{typed} could not be written to: {error.strerror or error}"
        raise InputError(Fault(option, what, "name another folder")) from None
    return tuple(folder / name for name in files)


def folder_faults(option: str, typed: str) -> Iterator[Fault]:
    """Yield what speaks against writing into a folder, as far as it can be known before."""
    if not typed.strip():
        yield Fault(option, "is empty", "name a folder")
        return
    folder = Path(typed)
    try:
        there = next(one for one in (folder.resolve(), *folder.resolve().parents) if one.exists())
    except (OSError, ValueError) as error:
        yield Fault(option, f"{typed} cannot be a folder: {error}", "name another")
        return
    if not there.is_dir():
        yield Fault(option, f"{there} is no folder", "name another")
    elif not os.access(there, os.W_OK | os.X_OK):
        yield Fault(option, f"{there} cannot be written to", "name another")
    else:
        yield from _refused(option, there)


def _refused(option: str, there: Path) -> Iterator[Fault]:
    """Yield what a folder says to something new in it, which no mode of it tells."""
    try:
        with TemporaryDirectory(prefix=".memquiz-", dir=there):
            pass
    except OSError as error:
        what = f"{there} cannot be written to: {error.strerror or error}"
        yield Fault(option, what, "name another")


def _taken(option: str, folder: Path, files: Mapping[PurePosixPath, bytes]) -> list[Fault]:
    try:
        other = [folder / name for name, data in files.items() if _is_other(folder / name, data)]
    except OSError as error:
        return [Fault(option, f"{folder} cannot be read: {error.strerror or error}")]
    advice = "name another folder, or move it away"
    return [Fault(option, f"{path} is there and says something else", advice) for path in other]


def _is_other(path: Path, data: bytes) -> bool:
    return path.exists() and (not path.is_file() or path.read_bytes() != data)


def _write(folder: Path, files: Mapping[PurePosixPath, bytes]) -> None:
    """Write each beside its place, then put all in place; after a failure none is left."""
    parts = {name: folder / f".memquiz-{os.getpid()}-{name.name}" for name in files}
    placed: list[Path] = []
    try:
        for name, data in files.items():
            with parts[name].open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for name, part in parts.items():
            is_new = not (folder / name).exists()
            part.replace(folder / name)
            placed += [folder / name] if is_new else []
    except OSError:
        for path in placed:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
