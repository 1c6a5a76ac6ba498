"""What a software stack holds beside model states and activations."""

from collections.abc import Callable, Iterable
from typing import cast

from engine.discovery import resolved
from engine.ledger import Line
from engine.stacks.registry import stack
from engine.structure import Structure


def lines(structure: Structure) -> Iterable[Line]:
    """Return the lines that the stack alone has, none for most."""
    named = stack(structure.block.stack).lines
    if not named:
        return ()
    return cast(Callable[[Structure], Iterable[Line]], resolved(named))(structure)
