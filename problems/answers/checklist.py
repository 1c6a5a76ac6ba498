"""The few actions of several that help, in the order in which one would take them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.ranking import Order, RankedItem, name_faults, named, order_of

FEWEST, MOST = 5, 8


@dataclass(frozen=True, kw_only=True)
class Action:
    """One of the things that may be done.

    Args:
        item: how it is shown and typed, and the number that speaks for it, 0 where none does.
        why: one or two sentences on its place, or on why it does not help, with its numbers.
    """

    item: RankedItem
    why: str


@dataclass(frozen=True, kw_only=True)
class ChecklistAnswer(Answer):
    """Those of a few actions that help, in order, with ties; the others are to be left out.

    Args:
        actions: five to eight, in the order in which they are shown.
        order: the keys of those that help, from first to last: those of a group may be taken
            either way. Whatever is in no group does not help.
        first: which comes first, as the question says it: "cheapest".

    Raises:
        ValueError: listing every way in which the parts do not fit each other.
    """

    type = "checklist"

    actions: tuple[Action, ...]
    order: Order
    first: str

    def __post_init__(self) -> None:
        faults = [*name_faults(self.items), *_faults(self.actions, self.order)]
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def said(self) -> str:
        """The order by name: "fused attention > ZeRO-1 = ZeRO-2"."""
        return self.in_order(self.order)

    @property
    def alone(self) -> dict[str, str]:
        """The items by their keys."""
        return {item.key: item.name for item in self.items}

    @property
    def as_json(self) -> dict[str, Any]:
        """The actions with their reasons, and the order of those that help."""
        return {
            "type": self.type,
            "items": [action.item.as_json | {"why": action.why} for action in self.actions],
            "order": [list(group) for group in self.order],
            "first": self.first,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        actions = tuple(
            Action(item=RankedItem.from_json(one), why=one["why"]) for one in plain["items"]
        )
        return cls(actions=actions, order=order_of(plain["order"]), first=plain["first"])

    @property
    def items(self) -> tuple[RankedItem, ...]:
        """What may be typed."""
        return tuple(action.item for action in self.actions)

    @property
    def idle(self) -> tuple[str, ...]:
        """The keys of what does not help, as they are shown."""
        helps = set(chain.from_iterable(self.order))
        return tuple(item.key for item in self.items if item.key not in helps)

    def in_order(self, order: Order) -> str:
        """Return an order of the actions by name."""
        return named(order, self.items)

    def action(self, key: str) -> Action:
        """Return the action with this key."""
        return next(action for action in self.actions if action.item.key == key)


def _faults(actions: tuple[Action, ...], order: Order) -> Iterator[str]:
    if not FEWEST <= len(actions) <= MOST:
        yield f"{len(actions)} actions are not {FEWEST} to {MOST}"
    keys = [action.item.key for action in actions]
    ordered = list(chain.from_iterable(order))
    if len(set(ordered)) < len(ordered) or not set(ordered) <= set(keys) or not all(order):
        yield "the order holds what is no action, or an action twice"
    if len(order) < 2:
        yield "nothing is before anything else"
    for action in actions:
        if not action.why:
            yield f"{action.item.key} says no reason"
