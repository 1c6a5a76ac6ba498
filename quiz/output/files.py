"""Files that a command is asked to write: faults told before the work, written whole or not."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import Fault, InputError


def output_faults(
    asked: Mapping[str, str | None], read: Mapping[str, str | None]
) -> Iterator[Fault]:
    """Yield what speaks against writing the files, as far as it can be known before.

    Args:
        asked: each option and the file that was typed behind it, if any.
        read: what the command reads, by a name, so that it is not written over.
    """
    seen = {Path(typed).resolve(): name for name, typed in read.items() if typed}
    for option, typed in asked.items():
        if typed is None:
            continue
        fault = _fault(option, typed)
        path = Path(typed).resolve() if fault is None else None
        if path in seen:
            fault = Fault(option, f"{typed} is what {seen[path]} names", "name another file")
        if fault is not None:
            yield fault
        elif path is not None:
            seen[path] = option


def _fault(option: str, typed: str) -> Fault | None:
    if not typed.strip():
        return Fault(option, "is empty", "name a file")
    if typed == "-":
        return Fault(option, "- is no file: what is written here is not printed", "name a file")
    try:
        what = _wrong(Path(typed))
    except (OSError, ValueError) as error:
        what = f"{typed} cannot be written: {_reason(error)}"
    if what is None and _is_output(Path(typed)):
        return Fault(option, f"{typed} is where the output goes", "name another file")
    return None if what is None else Fault(option, what, "name a file in a folder that is there")


def _wrong(path: Path) -> str | None:
    folder = path.resolve().parent
    if path.is_dir():
        return f"{path} is a folder"
    if path.exists() and not path.is_file():
        # A finished file takes the place of what is there: a device would be gone.
        return f"{path} is not a regular file"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder {folder} cannot be written to"
    return None


def _is_output(path: Path) -> bool:
    """Say whether stdout or stderr go to the file: a finished one would take its place."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), path.stat()):
                return True
    return False


@contextmanager
def writing(option: str, typed: str) -> Iterator[Path]:
    """Give the path to write to, and tell what goes wrong as a fault of `option`.

    Raises:
        InputError: the file cannot be written.
    """
    # Where it is a link, the file it names is written and the link stays.
    path = Path(typed).resolve()
    try:
        yield path
    except OSError as error:
        what = f"{typed} could not be written: {_reason(error)}"
        raise InputError(Fault(option, what)) from None


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all.

    Raises:
        OSError: it cannot be written there.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all.

    Raises:
        OSError: it cannot be written there.
    """
    part = path.with_name(f".memquiz-{os.getpid()}")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
