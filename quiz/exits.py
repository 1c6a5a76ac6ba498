"""Exit codes, and the one place where bad input becomes a message."""

import os
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

from engine.errors import InputError, UnmodelledError
from quiz.output.plain import visible
from quiz.output.started import typed_here

P = ParamSpec("P")


class Exit(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    NO = 1
    BAD_INPUT = 2
    TIGHT = 3
    SOUND = 75
    INTERRUPTED = 130


def exits(command: Callable[P, Exit]) -> Callable[P, None]:
    """Make a function that returns an `Exit` one that exits, with each fault on a line."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except InputError as error:
            if is_first_rank():
                sys.stdout.flush()
                sys.stderr.write(faults(error))
                sys.stderr.flush()
            code = Exit.BAD_INPUT
        sys.exit(code)

    return run


def is_first_rank() -> bool:
    """Say whether this process tells: torchrun starts the same command once for each rank."""
    return os.environ.get("RANK", "0") == "0"


def faults(error: InputError) -> str:
    """Return what is wrong, one line a fault, behind a line that counts them."""
    number = len(error.faults)
    head = f"memquiz: {number} thing{'s' if number != 1 else ''} to mend"
    if isinstance(error, UnmodelledError):
        head = "memquiz: the ledger has no lines for this yet"
    return "\n".join(
        [head, *(f"  {visible(typed_here(str(fault)))}" for fault in error.faults), ""]
    )
