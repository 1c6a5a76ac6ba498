"""The software stacks: a file in `engine.stacks.known` is all that one takes."""

from functools import cache

from engine.discovery import defined, modules
from engine.stacks import known
from engine.stacks.stack import Stack


@cache
def names() -> tuple[str, ...]:
    """Return the names of all stacks, which are those of the files; none is imported."""
    return tuple(sorted(modules(known)))


@cache
def stack(name: str) -> Stack:
    """Return the stack of that name, one of `names`.

    Raises:
        TypeError: its module has no `STACK`.
    """
    return defined(known, name, "STACK", Stack)
