"""Folders beside the bank: an instructor's own kinds, with their templates and their mistakes."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_FOLDERS: ContextVar[tuple[Path, ...]] = ContextVar("own folders", default=())


def own_folders() -> tuple[Path, ...]:
    """Return the folders that are in use."""
    return _FOLDERS.get()


@contextmanager
def using(*folders: Path) -> Iterator[None]:
    """Use these folders and no others until the block ends."""
    before = _FOLDERS.set(tuple(folder.resolve() for folder in folders))
    try:
        yield
    finally:
        _FOLDERS.reset(before)
