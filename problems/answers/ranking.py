"""An order that is asked for: what is ranked, in which order, and the numbers that decide it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.numbers import exact

Order = tuple[tuple[str, ...], ...]
"""Keys of items, in groups that tie, from first to last."""


@dataclass(frozen=True, kw_only=True)
class RankedItem:
    """One of the things that are put in order.

    Args:
        key: the number or letter that it is shown with and may be typed by: "1", "a".
        name: as it is said: "fused attention".
        aliases: other names that may be typed: "fa", "flash". Case, hyphens and spaces tell no
            name from another.
        value: the number that gives it its place, in the unit of the answer's measure.
    """

    key: str
    name: str
    aliases: tuple[str, ...] = ()
    value: Fraction

    @property
    def as_json(self) -> dict[str, Any]:
        """Its key, its names and its number."""
        return {
            "key": self.key,
            "name": self.name,
            "aliases": list(self.aliases),
            "value": exact(self.value),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the item that `as_json` wrote."""
        return cls(
            key=plain["key"],
            name=plain["name"],
            aliases=tuple(plain["aliases"]),
            value=Fraction(plain["value"]),
        )


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How the number that decides is said: "it costs +33% step time", "it saves 12.40 GB".

    Args:
        verb: what an item does with it: "costs", "saves", "takes".
        unit: "bytes", which are said in GB and the like; "%"; or any other, such as "ms".
        of: what is measured, behind the number: "step time"; "" where the verb says it all.
        signed: whether a "+" stands before a number above 0, as where it is a change.
    """

    verb: str
    unit: str
    of: str = ""
    signed: bool = False


@dataclass(frozen=True, kw_only=True)
class RankingAnswer(Answer):
    """An order of a few things, with ties.

    Args:
        items: two or more, in the order in which they are shown.
        order: the right order as groups of keys: those of a group tie.
        measure: what decides. From group to group of `order` the values only grow, or only fall.
        first: which comes first, as the question says it: "cheapest".

    Raises:
        ValueError: listing every way in which the parts do not fit each other.
    """

    type = "ranking"

    items: tuple[RankedItem, ...]
    order: Order
    measure: Measure
    first: str

    def __post_init__(self) -> None:
        faults = [*name_faults(self.items), *_order_faults(self.items, self.order)]
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
        """The items, their order, and what decides it."""
        return {
            "type": self.type,
            "items": [item.as_json for item in self.items],
            "order": [list(group) for group in self.order],
            "measure": asdict(self.measure),
            "first": self.first,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(
            items=tuple(map(RankedItem.from_json, plain["items"])),
            order=order_of(plain["order"]),
            measure=Measure(**plain["measure"]),
            first=plain["first"],
        )

    def in_order(self, order: Order) -> str:
        """Return an order of the items by name."""
        return named(order, self.items)

    def item(self, key: str) -> RankedItem:
        """Return the item with this key."""
        return next(item for item in self.items if item.key == key)


def named(order: Order, items: tuple[RankedItem, ...]) -> str:
    """Return an order by the names of what it orders: "fused attention > ZeRO-1 = ZeRO-2"."""
    names = {item.key: item.name for item in items}
    return " > ".join(" = ".join(names[key] for key in group) for group in order)


def order_of(plain: Sequence[Sequence[str]]) -> Order:
    """Return an order that JSON holds as lists of keys."""
    return tuple(map(tuple, plain))


@lru_cache(maxsize=4096)  # a key of a class names the same things a thousand times
def folded(name: str) -> str:
    """Return what of a name tells it from others: its letters and digits in lower case."""
    return re.sub(r"[\W_]", "", name.lower())


def name_faults(items: tuple[RankedItem, ...]) -> Iterator[str]:
    """Yield each way in which items could not be typed, or not told apart."""
    for item in items:
        if not re.fullmatch(r"[1-9]\d?|[a-z]", item.key):
            yield f"the key {item.key!r} is no number from 1 to 99 and no small letter"
        if not all(map(folded, (item.name, *item.aliases))):
            yield f"a name of {item.key} has neither letter nor digit"
    if len({item.key.isdigit() for item in items}) > 1:
        yield "some keys are numbers and some are letters"
    spelled = Counter(
        spelling
        for item in items
        for spelling in {folded(name) for name in (item.key, item.name, *item.aliases)}
    )
    for name, times in spelled.items():
        if times > 1:
            yield f"{times} items may be typed as {name}"


def _order_faults(items: tuple[RankedItem, ...], order: Order) -> Iterator[str]:
    keys = [item.key for item in items]
    if sorted(chain.from_iterable(order)) != sorted(keys) or not all(order):
        yield "the order does not hold each item once"
        return
    if len(order) < 2:
        yield "nothing is before anything else"
        return
    values = {item.key: item.value for item in items}
    ends = [(min(each), max(each)) for each in ([values[key] for key in group] for group in order)]
    grow = all(before[1] < after[0] for before, after in pairwise(ends))
    fall = all(before[0] > after[1] for before, after in pairwise(ends))
    if not grow and not fall:
        yield "the values neither grow nor fall along the order"
