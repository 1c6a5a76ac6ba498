"""How far a typed order is from the right one: Kendall's distance, where the right one has ties.

Every two items that the right order sets apart are a pair. A pair that is inverted is lost, one
that was typed as a tie is half lost, and one of which an item was left out is lost. Two items that
the right order lets tie are no pair: they may be typed either way. This is the penalty parameter
p = 1/2 of Fagin, Kumar, Mahdian, Sivakumar and Vee, "Comparing partial rankings" (SIAM J. Discrete
Math. 20, 2006), but for the ties of the right order, which cost nothing here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from problems.answers.ranking import Order

Fate = Literal["right", "tied", "inverted", "missing"]
LOST: Mapping[Fate, Fraction] = {
    "right": Fraction(0),
    "tied": Fraction(1, 2),
    "inverted": Fraction(1),
    "missing": Fraction(1),
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two keys, `before` the one that the right order has first, and what became of them."""

    before: str
    after: str
    fate: Fate

    @property
    def lost(self) -> Fraction:
        """The part of the pair that is lost, from 0 to 1."""
        return LOST[self.fate]


def pairs(typed: Order, right: Order) -> tuple[Pair, ...]:
    """Return every pair of `right`, in its order."""
    place = {key: index for index, group in enumerate(typed) for key in group}
    return tuple(
        Pair(before=before, after=after, fate=_fate(place.get(before), place.get(after)))
        for group, later in combinations(right, 2)
        for before in group
        for after in later
    )


def distance(typed: Order, right: Order) -> Fraction:
    """Return the share of the pairs of `right` that is lost: 0 where none is, 1 where all are.

    `right` has two groups or more.
    """
    found = pairs(typed, right)
    return sum((pair.lost for pair in found), Fraction(0)) / len(found)


def _fate(before: int | None, after: int | None) -> Fate:
    if before is None or after is None:
        return "missing"
    if before == after:
        return "tied"
    return "right" if before < after else "inverted"
