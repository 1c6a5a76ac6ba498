"""What sets a wrong formula apart from the right one, told from their ratios at a few points."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Protocol

from problems.answers.symbolic import Letter, SymbolicAnswer
from problems.draw import Draw
from problems.formula import Formula

POINTS = 6
LARGEST = 1000
# Letters that a formula may have too many or too few of at once, each once or squared.
MOST_LETTERS = 2
POWERS = (-2, -1, 1, 2)

Point = Mapping[str, Fraction]
Powers = tuple[tuple[Letter, int], ...]
Factors = tuple[Fraction, ...]


class Evaluable(Protocol):
    """A formula, typed or right."""

    def at(self, values: Point, /) -> Fraction:
        """Return the number that it gives."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A number times powers of letters: what a typed formula has more than the right one."""

    number: Fraction
    powers: Powers = ()


@cache
def points(letters: tuple[Letter, ...]) -> tuple[Point, ...]:
    """Return values for the letters, the same each time."""
    draw = Draw("formula", len(letters))
    return tuple(
        {one.name: Fraction(draw.between(2, LARGEST)) for one in letters} for _ in range(POINTS)
    )


@cache
def values_of(formula: Formula, letters: tuple[Letter, ...]) -> tuple[Fraction, ...]:
    """Return what a formula of the key gives at the points of these letters."""
    return tuple(formula.at(point) for point in points(letters))


def ratio_of(typed: Evaluable, answer: SymbolicAnswer) -> Ratio | None:
    """Return what `typed` is times the right one; None where that is no product of few letters."""
    at = points(answer.letters)
    right = values_of(answer.formula, answer.letters)
    first, *others = (typed.at(point) / value for point, value in zip(at, right, strict=True))
    for powers, value, factors in _candidates(answer.letters):
        # The first point that differs, nearly always the second one, ends it.
        if all(one == first * factor for one, factor in zip(others, factors, strict=True)):
            return Ratio(number=first / value, powers=powers)
    return None


def depends(typed: Evaluable, answer: SymbolicAnswer) -> tuple[list[Letter], list[Letter]]:
    """Return the letters that only the right formula depends on, and those that only this does."""
    yours, right = _moving(typed, answer.letters), _moving_right(answer.formula, answer.letters)
    missing = [one for one in answer.letters if one in right and one not in yours]
    needless = [one for one in answer.letters if one in yours and one not in right]
    return missing, needless


@cache
def _moving_right(formula: Formula, letters: tuple[Letter, ...]) -> frozenset[Letter]:
    """Return the letters that a formula of the key depends on."""
    return _moving(formula, letters)


def _moving(formula: Evaluable, letters: tuple[Letter, ...]) -> frozenset[Letter]:
    at = points(letters)
    return frozenset(one for one in letters if any(_moves_at(formula, one, each) for each in at))


def _moves_at(formula: Evaluable, one: Letter, point: Point) -> bool:
    try:
        return formula.at(point) != formula.at({**point, one.name: 2 * point[one.name]})
    except ArithmeticError:  # where it divides by nothing it depends on what makes it so
        return True


@cache
def _candidates(letters: tuple[Letter, ...]) -> tuple[tuple[Powers, Fraction, Factors], ...]:
    """Return the products, each with its value at the first point and the others over that."""
    first, *others = points(letters)
    return tuple(
        (powers, value, tuple(_value(powers, point) / value for point in others))
        for powers in _products(letters)
        for value in (_value(powers, first),)
    )


def _products(letters: Sequence[Letter]) -> Iterator[Powers]:
    """Yield products of letters, simple ones first; a number alone is the simplest."""
    yield ()
    for many in range(1, MOST_LETTERS + 1):
        for some in combinations(letters, many):
            for powers in product(POWERS, repeat=many):
                yield tuple(zip(some, powers, strict=True))


def _value(powers: Powers, point: Point) -> Fraction:
    value = Fraction(1)
    for one, power in powers:
        value *= point[one.name] ** power
    return value
