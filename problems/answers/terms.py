"""Several named numbers at once: what a ledger and a table share."""

from abc import ABC
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

from engine.units import KB
from problems.answers.answer import FULL_CREDIT, Answer
from problems.answers.count import CountAnswer
from problems.answers.numbers import amount, exact, in_gb
from problems.answers.quantity import QuantityAnswer
from problems.answers.ranking import folded

How = Literal["sum", "largest", "fits"]
# More cannot be told apart by their place in a line.
MOST = 8


@dataclass(frozen=True, kw_only=True)
class Follows:
    """How a term comes of those before it.

    Args:
        how: "sum" of them; the "largest" of them; how many of the first "fits" beside the second
            within `room`.
        of: their names.
        times: what a sum is multiplied with.
        room: bytes.
    """

    how: How
    of: tuple[str, ...]
    times: Fraction = Fraction(1)
    room: Fraction = Fraction(0)

    def value(self, numbers: Mapping[str, Fraction]) -> Fraction:
        """Return the term where those that it comes of are these numbers."""
        parts = [numbers[name] for name in self.of]
        match self.how:
            case "sum":
                return sum(parts, Fraction(0)) * self.times
            case "largest":
                return max(parts)
            case "fits":
                each, fixed = parts
                return Fraction((self.room - fixed) // each) if each else Fraction(0)

    @property
    def as_json(self) -> dict[str, Any]:
        """How, of what, and with which numbers."""
        return {
            "how": self.how,
            "of": list(self.of),
            "times": exact(self.times),
            "room": exact(self.room),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return what `as_json` wrote."""
        return cls(
            how=plain["how"],
            of=tuple(plain["of"]),
            times=Fraction(plain["times"]),
            room=Fraction(plain["room"]),
        )


@dataclass(frozen=True, kw_only=True)
class Term:
    """One of the numbers.

    Args:
        name: as it is said: "gradients", "ZeRO-2". Case, hyphens and spaces tell no name from
            another.
        aliases: other names that may be typed.
        answer: the number by itself.
        follows: how it comes of terms before it; None where it does not.
    """

    name: str
    aliases: tuple[str, ...] = ()
    answer: QuantityAnswer | CountAnswer
    follows: Follows | None = None

    @property
    def said(self) -> str:
        """The name and the number: "gradients 14.00 GB"."""
        return f"{self.name} {self._number}"

    @property
    def _number(self) -> str:
        if isinstance(self.answer, CountAnswer):
            return self.answer.said
        value = self.answer.value
        if self.answer.unit == "bytes" and value >= KB:
            return in_gb(value)
        return amount(value, self.answer.unit)

    @property
    def as_json(self) -> dict[str, Any]:
        """Its names, its number and what it follows from."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "answer": self.answer.as_json,
            "follows": None if self.follows is None else self.follows.as_json,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the term that `as_json` wrote."""
        of = CountAnswer if plain["answer"]["type"] == CountAnswer.type else QuantityAnswer
        return cls(
            name=plain["name"],
            aliases=tuple(plain["aliases"]),
            answer=of.from_json(plain["answer"]),
            follows=None if plain["follows"] is None else Follows.from_json(plain["follows"]),
        )

    def is_right(self, number: Fraction, right: Fraction | None = None) -> bool:
        """Return whether a number earns all of the credit where `right` is the right one."""
        right = Fraction(self.answer.value) if right is None else right
        if isinstance(self.answer, CountAnswer):
            return number == right
        return abs(number - right) <= FULL_CREDIT[self.answer.band] * right


@dataclass(frozen=True, kw_only=True)
class TermsAnswer(Answer, ABC):
    """Several numbers, each with a name.

    Args:
        terms: two or more, in the order in which they are asked for.

    Raises:
        ValueError: listing every way in which the terms do not fit each other.
    """

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        faults = [*_name_faults(self.terms), *_follow_faults(self.terms)]
        if not 2 <= len(self.terms) <= MOST:
            faults.append(f"there are {len(self.terms)} terms, which is not 2 to {MOST}")
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def said(self) -> str:
        """Every term with its number."""
        return ", ".join(term.said for term in self.terms)

    @property
    def as_json(self) -> dict[str, Any]:
        """The terms."""
        return {"type": self.type, "terms": [term.as_json for term in self.terms]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(terms=tuple(map(Term.from_json, plain["terms"])))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the terms."""
        return tuple(term.name for term in self.terms)

    @property
    def parts(self) -> Mapping[str, Answer]:
        """The number of each term."""
        return {term.name: term.answer for term in self.terms}


def _name_faults(terms: tuple[Term, ...]) -> Iterator[str]:
    spelled = Counter(
        spelling
        for term in terms
        for spelling in {folded(name) for name in (term.name, *term.aliases)}
    )
    for name, times in spelled.items():
        if times > 1:
            yield f"{times} terms may be typed as {name}"
        if len(name) < 2 or name.isdigit():
            yield f"{name!r} is no name: a unit or a number may be typed so"


def _follow_faults(terms: tuple[Term, ...]) -> Iterator[str]:
    numbers: dict[str, Fraction] = {}
    for term in terms:
        if term.follows is not None:
            if unknown := set(term.follows.of) - numbers.keys():
                yield f"{term.name} follows from {', '.join(sorted(unknown))}, not before it"
            elif not term.is_right(term.follows.value(numbers)):
                yield f"{term.name} does not follow from the terms before it"
        numbers[term.name] = Fraction(term.answer.value)
