"""Sums on paper as values: a term with its product, a moment's terms, and all moments."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property

from engine.units import GB
from problems.wording import PAPER_DIGITS, number, paper, rounded

SAVED = "saved activations"
MOST_DIGITS = 7
# The moments of a step.
LOSS = "the backward pass of the loss"
HEAD = "the backward pass of the head"
LAST_LAYER = "the backward pass of the last layer"
FULL = "a layer below, where the bucket is full"
NEXT_LAYER = "the backward pass of the layer below the last"
SECOND_LAYER = "the backward pass of the second layer"
FIRST_LAYER = "the backward pass of the first layer"
EMBEDDING = "the backward pass of the embedding"
END = "the end of the backward pass"
BEFORE_STEP = "the moment before the optimizer's step"
STEP = "the optimizer's step"


@dataclass(frozen=True, kw_only=True)
class Amount:
    """One term of a sum on paper.

    Args:
        name: what it is.
        how: the product that gives it, with a place for {tokens} where it grows with them.
        size: bytes.
        tokens: tokens of the micro-batch, 0 where the size does not depend on them.
    """

    name: str
    how: str
    size: int
    tokens: int = 0

    @property
    def said(self) -> str:
        """The product that gives it."""
        return self.how.format(tokens=number(self.tokens))

    def times(self, factor: int) -> "Amount":
        """Return the amount in a micro-batch so many times as large."""
        return replace(
            self, size=self.size * (factor if self.tokens else 1), tokens=self.tokens * factor
        )


def product(name: str, each: int, parameters: int) -> Amount:
    """Return so many bytes for each of so many parameters."""
    return Amount(
        name=name, how=f"{each} × {in_billions(parameters, each)}", size=each * parameters
    )


def in_billions(parameters: int, each: Fraction | int = 1) -> str:
    """Return a number of parameters as one writes it on paper, times `each`: 1.54 billion."""
    return all_in_billions((each, parameters))[0]


@cache
def all_in_billions(*products: tuple[Fraction | int, int]) -> tuple[str, ...]:
    """Return the parameters of a sum of products as one writes them on paper: 1.54 billion.

    They have a digit more where the sum, as it is written then, needs that.

    Args:
        products: a factor and a number of parameters each.
    """
    digits, size = PAPER_DIGITS, paper(_sum(products))
    while digits < MOST_DIGITS and paper(_sum(products, digits)) != size:
        digits += 1
    return tuple(
        f"{rounded(parameters, digits) / GB:.{digits + 1}g} billion" for _, parameters in products
    )


def _sum(products: tuple[tuple[Fraction | int, int], ...], digits: int = 99) -> Fraction:
    rows = (Fraction(each * rounded(parameters, digits)) for each, parameters in products)
    return sum(rows, Fraction(0))


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment of the step that may be its peak, and what is alive then."""

    said: str
    amounts: tuple[Amount, ...]

    @cached_property
    def size(self) -> int:
        """Bytes that are allocated."""
        return sum(amount.size for amount in self.amounts)

    @cached_property
    def growing(self) -> int:
        """Bytes that grow with the micro-batch."""
        return sum(amount.size for amount in self.amounts if amount.tokens)

    @property
    def fixed(self) -> int:
        """Bytes that do not."""
        return self.size - self.growing

    def times(self, factor: int) -> "Moment":
        """Return the moment with a micro-batch so many times as large."""
        return replace(self, amounts=tuple(amount.times(factor) for amount in self.amounts))


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The moments of a step on one GPU."""

    moments: tuple[Moment, ...]

    @property
    def moment(self) -> Moment:
        """The moment of the peak."""
        return max(self.moments, key=lambda moment: moment.size)

    @property
    def peak(self) -> int:
        """The most that is allocated."""
        return self.moment.size

    def peak_of(self, factor: int) -> int:
        """Return the peak with a micro-batch so many times as large."""
        return max(moment.fixed + factor * moment.growing for moment in self.moments)

    def binding(self, factor: int) -> Moment:
        """Return, as it is here, the moment of the peak with a larger micro-batch."""
        return max(self.moments, key=lambda moment: moment.fixed + factor * moment.growing)

    def times(self, factor: int) -> "Paper":
        """Return the moments of a step whose micro-batch is so many times as large."""
        return Paper(moments=tuple(moment.times(factor) for moment in self.moments))

    def with_saved(self, factor: int) -> "Paper":
        """Return the moments with saved activations of so many times the width."""
        return Paper(
            moments=tuple(
                replace(
                    moment,
                    amounts=tuple(
                        replace(x, size=x.size * factor) if x.name == SAVED else x
                        for x in moment.amounts
                    ),
                )
                for moment in self.moments
            )
        )
