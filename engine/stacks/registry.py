"""The software stacks: a file in `engine.stacks.known` is all that one takes."""

from functools import cache

from engine.discovery import defined, modules
from engine.errors import Fault, InputError
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


def that_runs(name: str) -> Stack:
    """Return the stack of that name, one of `names`, whose model is run here.

    Raises:
        InputError: none is; says why, and which stacks have one.
    """
    found = stack(name)
    if not found.builder:
        held = f", which is held to {found.held_to}" if found.held_to else ""
        others = " or ".join(other for other in names() if stack(other).builder)
        what = f"{name} is not run here: {found.why_not_run}"
        instead = f"memquiz solve has its ledger{held}; or give {others}"
        raise InputError(Fault("model.implementation", what, instead))
    return found
