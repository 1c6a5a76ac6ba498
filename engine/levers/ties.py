"""Which prices are one price."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

# Of a step's time; the step-time model does not know better than this.
TIE = 0.05


def tied(rows: Iterable[T], price: Callable[[T], float]) -> tuple[tuple[T, ...], ...]:
    """Return `rows`, the cheapest first, in groups of one price.

    A group has what is at most `TIE` above its cheapest row. What changes the step's time by no
    more than that, either way, is one group: it is free.
    """
    groups: list[list[T]] = []
    for row in sorted(rows, key=price):
        if groups and _same(price(groups[-1][0]), price(row)):
            groups[-1].append(row)
        else:
            groups.append([row])
    return tuple(map(tuple, groups))


def _same(first: float, price: float) -> bool:
    """Say whether `price` is in the group that begins with `first`."""
    if first < -TIE:
        return price <= first + TIE and price < -TIE
    return price <= max(first, 0.0) + TIE
