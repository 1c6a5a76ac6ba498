"""Files of an interview in a folder: all of them or none, and nothing else is written over."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from engine.errors import Fault, InputError


def written(option: str, typed: str, files: Mapping[PurePosixPath, bytes]) -> tuple[Path, ...]:
    """Write files into a folder that is made where it is missing, and return their paths.

    Raises:
        InputError: a file of that name says something else, or one cannot be written. What was
            there before is there then, and nothing new.
    """
    folder = Path(typed)
    faults = _faults(option, typed, files)
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


def _faults(option: str, typed: str, files: Mapping[PurePosixPath, bytes]) -> list[Fault]:
    if not typed.strip():
        return [Fault(option, "is empty", "name a folder")]
    folder = Path(typed)
    try:
        if folder.exists() and not folder.is_dir():
            return [Fault(option, f"{typed} is no folder", "name another")]
        other = [name for name, data in files.items() if _is_other(folder / name, data)]
    except (OSError, ValueError) as error:
        return [Fault(option, f"{typed} cannot be a folder: {error}", "name another")]
    advice = "name another folder, or move it away"
    return [Fault(option, f"{folder / name} is there and says something else", advice)
            for name in other]  # fmt: skip


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
