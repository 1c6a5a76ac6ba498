"""One typed quantity against one reference: its share of the credit and the mistake behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from problems.problem import Mistake, QuantityAnswer
from quiz.answers import Quantity
from quiz.nearness import DOUBLE, SLIP_CREDIT, credit, nearest, slip
from quiz.reference import rounded

# A larger factor is not worth its digits.
FARTHEST = 10**9


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What a number earns, the name of the mistake that gives it, and what to say of it."""

    score: Fraction
    mistake: str | None
    says: tuple[str, ...]


def assess(quantity: Quantity, answer: QuantityAnswer, mistakes: Sequence[Mistake]) -> Assessment:
    """Mark `quantity`, the middle of it where it is a range.

    GB said for GiB is named and earns half, also where no band would give that much. Inside a
    band that gives full credit it is spoken of but is no mistake: an estimate may be 7% off.
    """
    number = quantity.value
    score = credit(number, answer.value, answer.band)
    exchanged = slip(number, answer.value) if answer.unit == "bytes" else None
    says = [*_of_range(quantity, answer.value)]
    if score == 1:
        return Assessment(score=score, mistake=None, says=(*says, *_of_full(exchanged)))
    known = {mistake.name for mistake in mistakes}
    own = [exchanged] if exchanged and exchanged.name not in known else []
    named = nearest(number, [*mistakes, *own])
    if named is None:
        off = _of_distance(number, answer.value)
        return Assessment(score=score, mistake=None, says=(*says, *off))
    if exchanged and named.name == exchanged.name:
        score = max(score, SLIP_CREDIT)
    return Assessment(score=score, mistake=named.name, says=(*says, named.feedback))


def _of_range(quantity: Quantity, right: Fraction) -> Iterator[str]:
    if quantity.low != quantity.high:
        holds = quantity.low <= right <= quantity.high
        yield f"Your range {'holds' if holds else 'misses'} it; its middle is what counts."


def _of_distance(number: Fraction, right: Fraction) -> Iterator[str]:
    if not number or not right:
        return
    ratio = max(number / right, right / number)
    word = "high" if number > right else "low"
    if ratio < DOUBLE:
        yield f"Yours is {abs(float(number / right) - 1):.0%} too {word}."
    else:
        times = rounded(ratio, 3) if ratio <= FARTHEST else f"more than {FARTHEST:,}"
        yield f"Yours is too {word} by a factor of {times}."


def _of_full(exchanged: Mistake | None) -> Iterator[str]:
    if exchanged:
        yield f"It is as far off as {exchanged.name} would be: check the unit."
