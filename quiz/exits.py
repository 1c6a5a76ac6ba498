"""Exit codes, and the one place where bad input becomes a message."""

import os
import sys
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import wraps
from textwrap import wrap
from typing import ParamSpec

from engine.errors import Fault, InputError, UnmodelledError
from quiz.output.plain import visible
from quiz.output.started import typed_here

P = ParamSpec("P")
STEP = 2
# Columns below which nothing is wrapped here.
NARROWEST = 20


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
    """Return what is wrong, one line a fault, behind a line that counts them.

    A terminal gets each wrapped at words, so that no option and no name is cut in two.
    """
    number = len(error.faults)
    head = f"memquiz: {number} thing{'s' if number != 1 else ''} to mend"
    if isinstance(error, UnmodelledError):
        head = "memquiz: the ledger has no lines for this yet"
    return "\n".join([head, *(line for fault in error.faults for line in _lines(fault)), ""])


def _lines(fault: Fault) -> Iterator[str]:
    width = _columns()
    for text, indent in ((str(fault), STEP), *((one, 2 * STEP) for one in fault.below)):
        said = f"{' ' * indent}{visible(typed_here(text))}"
        if len(said) <= width or width < NARROWEST:
            yield said
            continue
        yield from wrap(
            said,
            width,
            subsequent_indent=" " * (indent + STEP),
            break_long_words=False,
            break_on_hyphens=False,
        )


def _columns() -> int:
    """Return the columns of the terminal that messages go to; 0 where they go to none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 0
