"""`--kinds`: folders of kinds of one's own, beside the bank."""

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TypeVar

import click

from engine.errors import InputError
from problems.mistakes import mistakes
from problems.own_folders import own_folders, using
from problems.registry import kinds

R = TypeVar("R")

OPTION, PLACE = "--kinds", "MEMQUIZ_KINDS"


def with_kinds(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the option `--kinds`, and run it with the kinds of those folders.

    The variable MEMQUIZ_KINDS names folders in the option's place, as PATH does.
    """

    @click.option(
        OPTION,
        "kind_folders",
        metavar="FOLDER",
        multiple=True,
        help=f"Take kinds of your own from here too; else from {PLACE}.",
    )
    @wraps(command)
    def run(*args: object, kind_folders: tuple[str, ...], **options: object) -> R:
        with using(*folders(kind_folders)):
            if own_folders():  # else kinds are read by who needs them
                _read(OPTION if kind_folders else PLACE)
            return command(*args, **options)

    return run


def _read(named_in: str) -> None:
    """Read kinds and mistakes; a folder that has none is told as a fault of what named it."""
    try:
        kinds()
        mistakes()
    except InputError as error:
        told = (
            replace(fault, where=named_in) if fault.where == OPTION else fault
            for fault in error.faults
        )
        raise InputError(*told) from error


def kinds_typed() -> str:
    """Return " --kinds FOLDER" for a command that is to have the kinds of this one."""
    if own_folders() == tuple(folder.resolve() for folder in folders(())):
        return ""
    near = (min(str(one), os.path.relpath(one), key=len) for one in own_folders())
    return "".join(f" --kinds {shlex.quote(name)}" for name in near)


def folders(typed: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the folders that were typed, or those that the variable names."""
    named = typed or filter(None, os.environ.get(PLACE, "").split(os.pathsep))
    return tuple(Path(name).expanduser() for name in named)
