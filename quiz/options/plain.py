"""`--plain`: what is printed, for screen readers and for terminals that show little."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import click

from quiz.output.plain import VARIABLE, only_ascii, plainly

R = TypeVar("R")


def with_plain(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the option `--plain`, and run it so that its screens are plain."""

    @click.option(
        "--plain",
        is_flag=True,
        help=f"ASCII, a thing a line, no bars, for screen readers; else where {VARIABLE} is set.",
    )
    @wraps(command)
    def run(*args: object, plain: bool, **options: object) -> R:
        if not plain:
            return command(*args, **options)
        only_ascii()
        with plainly():
            return command(*args, **options)

    return run
