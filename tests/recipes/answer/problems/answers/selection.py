"""Those of a few things that something holds for: all of them and no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.ranking import RankedItem


@dataclass(frozen=True, kw_only=True)
class SelectionAnswer(Answer):
    """Two or more of the `items`, by their keys."""

    type = "selection"

    items: tuple[RankedItem, ...]
    right: frozenset[str]

    @property
    def said(self) -> str:
        """Their names: "gradients, moments"."""
        return ", ".join(item.name for item in self.items if item.key in self.right)

    @property
    def as_json(self) -> dict[str, Any]:
        """The items, and the keys of those to select."""
        items = [item.as_json for item in self.items]
        return {"type": self.type, "items": items, "right": sorted(self.right)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        items = tuple(map(RankedItem.from_json, plain["items"]))
        return cls(items=items, right=frozenset(plain["right"]))
