"""The folder that a set is written to: nothing that was given out is written over."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from engine.errors import Fault, InputError
from quiz.output.files import write_bytes, writing

KEY = "key.json"


def folder_faults(option: str, typed: str) -> tuple[Fault, ...]:
    """Return what speaks against writing into the folder, as far as it can be known before."""
    path = Path(typed)
    if not typed.strip():
        return (Fault(option, "is empty", "name a folder"),)
    try:
        if path.exists() and not path.is_dir():
            return (Fault(option, f"{typed} is no folder", "name another"),)
        there = next(one for one in (path.resolve(), *path.resolve().parents) if one.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            return (Fault(option, f"{there} cannot be written to", "name another"),)
    except (OSError, ValueError) as error:
        return (Fault(option, f"{typed} cannot be a folder: {error}", "name another"),)
    return ()


def write_all(option: str, typed: str, files: Mapping[PurePosixPath, bytes]) -> None:
    """Write files into a folder that is made where it is missing; the key comes last.

    Raises:
        InputError: there is the key of another set, or a file cannot be written.
    """
    folder = Path(typed)
    key = files.get(PurePosixPath(KEY))
    if key is not None and (folder / KEY).exists() and (folder / KEY).read_bytes() != key:
        what = f"{folder / KEY} is the key of another set"
        raise InputError(Fault(option, what, "name another folder: that set may be given out"))
    for path, data in sorted(
        files.items(), key=lambda item: (item[0] == PurePosixPath(KEY), item)
    ):
        with writing(option, str(folder / path)) as place:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(place, data)
