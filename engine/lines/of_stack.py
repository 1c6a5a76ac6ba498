"""What a software stack holds beside model states and activations."""

from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import cast

from engine.ledger import Line
from engine.stacks.registry import stack
from engine.structure import Structure


def lines(structure: Structure) -> Iterable[Line]:
    """Return the lines that the stack alone has, none for most."""
    named = stack(structure.block.stack).lines
    if not named:
        return ()
    return cast(Callable[[Structure], Iterable[Line]], resolve_name(named))(structure)
