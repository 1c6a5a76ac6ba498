"""A family: the models whose config.json has one `model_type`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.architecture import Architecture
from engine.fields import Fields


@dataclass(frozen=True, kw_only=True)
class Family:
    """How configurations of one `model_type` are read, and written where its class can be run.

    Attributes:
        model_type: what a config.json and Transformers call it.
        read: returns the architecture that a configuration describes. A field that cannot be
            used is noted in the `Fields`. Defaults are those of the class in Transformers 5.24.
        has: says whether the family's class is the one that has the blocks of an architecture,
            so that the `hf` stack can run it. No two families say so of one architecture. None
            where the ledger has no lines for the class.
        written: returns the configuration's fields for an architecture that `has` takes, with
            the rate of its dropouts. It comes with `has`.

    Raises:
        ValueError: one of `has` and `written` is given without the other.
    """

    model_type: str
    read: Callable[[Fields], Architecture]
    has: Callable[[Architecture], bool] | None = None
    written: Callable[[Architecture, float], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if (self.has is None) != (self.written is None):
            message = f"{self.model_type} has one of `has` and `written`: give both or neither"
            raise ValueError(message)
