"""What an optimizer keeps, needs, moves and runs: a row of a table is all that one takes."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

TABLE = Path(__file__).parent / "data" / "optimizers.toml"


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """What an optimizer keeps and needs, in tensors of the stepped dtype per parameter.

    Attributes:
        title: its name in a question.
        states: kept from step to step; made in the first step.
        called: what the states are, as in "two moments".
        form: of one state, a name of `engine.state_forms.FORMS`.
        temporaries: alive only inside the step, for all parameters at once.
        of_one: the same for one parameter at a time.
        makes: what either of the two is.
        paged: whether states of large tensors are in unified memory, which the driver pages out.
        orthogonalizes: whether it is Muon, which makes the momentum of each matrix of the layers
            orthogonal, and leaves all other parameters to AdamW.
        at_once: whether gradients are cast for all parameters at once, not one tensor at a time.
        passes: over a parameter's stepped bytes in one step, read or written.
        beside: bytes that a step reads and writes for a parameter of states in a dtype of their
            own.
        counted: what the passes are, kernel by kernel.
        runs: what a verified step runs, as "module:class"; it takes the stepped tensors first.
        options: its keyword arguments.
        source: of states and temporaries, and of the kernels that are counted.
    """

    name: str
    title: str
    states: int
    called: str = ""
    form: str = "whole"
    temporaries: int = 0
    of_one: int = 0
    makes: str = ""
    paged: bool = False
    orthogonalizes: bool = False
    at_once: bool
    passes: int
    beside: int = 0
    counted: str
    runs: str
    options: tuple[tuple[str, bool | float], ...] = ()
    says: str
    source: str


@cache
def optimizers() -> Mapping[str, Optimizer]:
    """Return every optimizer by name, as the table has them.

    Raises:
        TypeError: a row lacks a key or has one that no optimizer has.
    """
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return MappingProxyType({name: _optimizer(name, row) for name, row in rows.items()})


def _optimizer(name: str, row: Mapping[str, Any]) -> Optimizer:
    options = tuple(row.get("options", {}).items())
    try:
        return Optimizer(**{**row, "name": name, "options": options})
    except TypeError as error:
        message = f"{TABLE.name}: {name}: {error}"
        raise TypeError(message) from None


def costed(name: str) -> Optimizer:
    """Return the row that a step's time is counted by: a fused AdamW's where `name` has none."""
    return optimizers().get(name, optimizers()["adamw-fused"])
