"""What sets a wrong formula apart from the right one, told from their ratios at a few points."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Protocol

from problems.answers.symbolic import Letter, SymbolicAnswer
from problems.draw import Draw

POINTS = 6
LARGEST = 1000
# Letters that a formula may have too many or too few of at once, each once or squared.
MOST_LETTERS = 2
POWERS = (-2, -1, 1, 2)

Point = Mapping[str, Fraction]


class Evaluable(Protocol):
    """A formula, typed or right."""

    def at(self, values: Point, /) -> Fraction:
        """Return the number that it gives."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A number times powers of letters: what a typed formula has more than the right one."""

    number: Fraction
    powers: tuple[tuple[Letter, int], ...] = ()


@cache
def points(letters: tuple[Letter, ...]) -> tuple[Point, ...]:
    """Return values for the letters, the same each time."""
    draw = Draw("formula", len(letters))
    return tuple(
        {one.name: Fraction(draw.between(2, LARGEST)) for one in letters} for _ in range(POINTS)
    )


def ratio_of(typed: Evaluable, answer: SymbolicAnswer) -> Ratio | None:
    """Return what `typed` is times the right one; None where that is no product of few letters."""
    at = points(answer.letters)
    ratios = [typed.at(point) / answer.formula.at(point) for point in at]
    for powers in _products(answer.letters):
        numbers = {ratio / _value(powers, point) for ratio, point in zip(ratios, at, strict=True)}
        if len(numbers) == 1:
            return Ratio(number=numbers.pop(), powers=powers)
    return None


def depends(typed: Evaluable, answer: SymbolicAnswer) -> tuple[list[Letter], list[Letter]]:
    """Return the letters that only the right formula depends on, and those that only this does."""
    missing, needless = [], []
    for one in answer.letters:
        moves = [_moves(formula, one, answer) for formula in (typed, answer.formula)]
        if moves == [False, True]:
            missing.append(one)
        elif moves == [True, False]:
            needless.append(one)
    return missing, needless


def _moves(formula: Evaluable, one: Letter, answer: SymbolicAnswer) -> bool:
    return any(_moves_at(formula, one, point) for point in points(answer.letters))


def _moves_at(formula: Evaluable, one: Letter, point: Point) -> bool:
    try:
        return formula.at(point) != formula.at({**point, one.name: 2 * point[one.name]})
    except ArithmeticError:  # where it divides by nothing it depends on what makes it so
        return True


def _products(letters: Sequence[Letter]) -> Iterator[tuple[tuple[Letter, int], ...]]:
    """Yield products of letters, simple ones first; a number alone is the simplest."""
    yield ()
    for many in range(1, MOST_LETTERS + 1):
        for some in combinations(letters, many):
            for powers in product(POWERS, repeat=many):
                yield tuple(zip(some, powers, strict=True))


def _value(powers: tuple[tuple[Letter, int], ...], point: Point) -> Fraction:
    value = Fraction(1)
    for one, power in powers:
        value *= point[one.name] ** power
    return value
