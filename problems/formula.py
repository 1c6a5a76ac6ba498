"""Formulas in letters: sums of products with whole powers, exact, equal where their terms are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import Any

# Letters stand in a product as people write them: 2·L·k·d·s·b, not in the order of the alphabet.
LAYERS = "L"
ORDER = "MPAGLasbVhkdfEcnwtpN"

Powers = tuple[tuple[str, int], ...]
"""Letters with their powers, none of which is 0, sorted by letter."""


@dataclass(frozen=True)
class Formula:
    """A sum of terms, each a number times powers of letters: 4·P + 12·P/N.

    Terms of equal powers are one, and none is 0, so that two formulas that give the same number
    whatever the letters are equal.
    """

    terms: tuple[tuple[Powers, Fraction], ...]

    def __add__(self, other: "Formula | int") -> "Formula":
        return _summed((*self.terms, *_formula(other).terms))

    def __radd__(self, other: int) -> "Formula":
        return self + other

    def __sub__(self, other: "Formula | int") -> "Formula":
        return self + _formula(other) * -1

    def __mul__(self, other: "Formula | int | Fraction") -> "Formula":
        pairs = ((one, two) for one in self.terms for two in _formula(other).terms)
        return _summed(tuple((_joined(one[0], two[0], 1), one[1] * two[1]) for one, two in pairs))

    def __rmul__(self, other: int | Fraction) -> "Formula":
        return self * other

    def __truediv__(self, other: "Formula | int") -> "Formula":
        """Return the quotient.

        Raises:
            ValueError: the divisor is no single term.
        """
        divisor = _formula(other).terms
        if len(divisor) != 1:
            raise ValueError("a formula is divided by one term only")
        powers, number = divisor[0]
        return _summed(tuple((_joined(p, powers, -1), n / number) for p, n in self.terms))

    @property
    def letters(self) -> frozenset[str]:
        """The letters that occur."""
        return frozenset(name for powers, _ in self.terms for name, _ in powers)

    @property
    def said(self) -> str:
        """The formula as people write it, what all terms share in front: s·b·h·(10 + 24/t).

        What is there in each layer stands together, as in V·h + L·h·(4·h + 2·f).
        """
        shared = self._shared
        if apart := self._layers_apart:
            return f"{_added(apart[0])} + {apart[1].said}"
        if len(self.terms) == 1 or shared == ONE:
            return _added(self)
        return f"{_added(shared)}·({_added(self / shared)})"

    @property
    def as_json(self) -> list[dict[str, Any]]:
        """Its terms as plain values: the number, exact, and the powers of the letters."""
        return [{"number": str(number), "powers": dict(powers)} for powers, number in self.terms]

    @classmethod
    def from_json(cls, plain: Sequence[Mapping[str, Any]]) -> "Formula":
        """Return the formula that `as_json` wrote."""
        return _summed(
            tuple((_sorted(term["powers"]), Fraction(term["number"])) for term in plain)
        )

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """Return the number that the formula gives for these values of its letters."""
        return sum((_number(powers, number, values) for powers, number in self.terms), Fraction(0))

    @property
    def _layers_apart(self) -> "tuple[Formula, ...]":
        """The terms of the layers and the others, where there are both and many; else nothing."""
        of_layers = tuple(term for term in self.terms if dict(term[0]).get(LAYERS, 0) > 0)
        others = tuple(term for term in self.terms if term not in of_layers)
        if len(of_layers) < 2 or not others:
            return ()
        return Formula(terms=others), Formula(terms=of_layers)

    @property
    def _shared(self) -> "Formula":
        """What every term has as a factor: letters, and no number."""
        powers = [dict(term) for term, _ in self.terms]
        least = {name: min(term.get(name, 0) for term in powers) for name in self.letters}
        return _summed(((_sorted({n: p for n, p in least.items() if p > 0}), Fraction(1)),))


def letter(name: str) -> Formula:
    """Return the formula that is one letter."""
    return Formula(terms=((((name, 1),), Fraction(1)),))


def constant(number: int | Fraction) -> Formula:
    """Return the formula that is a number."""
    return _summed((((), Fraction(number)),))


ONE = Formula(terms=(((), Fraction(1)),))


def _added(formula: Formula) -> str:
    terms = sorted(formula.terms, key=lambda term: _place(term[0]))
    text = " + ".join(_said(powers, number) for powers, number in terms)
    return text.replace("+ -", "- ")


def _formula(value: Formula | int | Fraction) -> Formula:
    return value if isinstance(value, Formula) else constant(value)


def _summed(terms: tuple[tuple[Powers, Fraction], ...]) -> Formula:
    sums: dict[Powers, Fraction] = {}
    for powers, number in terms:
        sums[powers] = sums.get(powers, Fraction(0)) + number
    return Formula(terms=tuple(sorted((p, n) for p, n in sums.items() if n)))


def _joined(one: Powers, other: Powers, sign: int) -> Powers:
    names = dict.fromkeys(chain(dict(one), dict(other)))
    return _sorted({n: dict(one).get(n, 0) + sign * dict(other).get(n, 0) for n in names})


def _sorted(powers: Mapping[str, int]) -> Powers:
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _number(powers: Powers, number: Fraction, values: Mapping[str, int | Fraction]) -> Fraction:
    return reduce(lambda sofar, one: sofar * Fraction(values[one[0]]) ** one[1], powers, number)


def _said(powers: Powers, number: Fraction) -> str:
    above = [_power(name, power) for name, power in _ordered(powers) if power > 0]
    below = [_power(name, -power) for name, power in _ordered(powers) if power < 0]
    top = "·".join([str(number.numerator)] * (number.numerator != 1 or not above) + above)
    if number.denominator != 1:
        below.insert(0, str(number.denominator))
    if not below:
        return top.replace("-1·", "-")
    return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'·'.join(below)})"


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


def _ordered(powers: Powers) -> list[tuple[str, int]]:
    return sorted(powers, key=lambda one: ORDER.find(one[0]))


def _place(powers: Powers) -> tuple[int, list[int]]:
    """Return where a term stands in a sum: whole ones before those that are divided."""
    divided = sum(power < 0 for _, power in powers)
    return divided, [ORDER.find(name) for name, _ in _ordered(powers)]
