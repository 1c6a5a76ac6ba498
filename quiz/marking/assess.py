"""One typed quantity against one reference: its share of the credit and the mistake behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from problems.answers.answer import FULL_CREDIT, Number
from problems.answers.numbers import rounded
from problems.problem import Mistake, Problem
from quiz.answers import Quantity
from quiz.marking.diagnosis import explained, several
from quiz.marking.nearness import DOUBLE, credit, credit_of_range, slip

# From here on whole percents and two decimals of a factor tell a width.
NARROW = Fraction(101, 100)
# A larger factor is not worth its digits.
FARTHEST = 10**9


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What a number earns, the name of the mistake that gives it, and what to say of it.

    `held` is whether a range holds the reference; None where the number is no range.
    """

    score: Fraction
    mistake: str | None
    says: tuple[str, ...]
    held: bool | None = None


def assess(quantity: Quantity, answer: Number, problem: Problem) -> Assessment:
    """Mark `quantity` as an answer to `problem`, which asks for `answer`.

    A named mistake earns its own share, also where no band would give that much: GB said for GiB
    half; the answer to another question earns nothing, however near. Inside a band that gives
    full credit nothing is a mistake: an estimate may be 7% off.
    """
    if quantity.low != quantity.high:
        return _of_range(quantity, answer)
    number, right = quantity.value, answer.value
    score = credit(number, right, answer.band)
    if score == 1:
        exchanged = slip(number, right) if answer.unit == "bytes" else None
        return Assessment(score=score, mistake=None, says=tuple(_of_full(exchanged)))
    return _traced(number, answer, problem, score)


def _traced(number: Fraction, answer: Number, problem: Problem, score: Fraction) -> Assessment:
    named = explained(problem, number)
    if named is None or named.also:
        says = [*_of_distance(number, answer), *several(named)]
        earned = max(score, named.share) if named else score
        return Assessment(score=earned, mistake=None, says=tuple(says))
    earned = max(score, named.share) if named.share else Fraction(0)
    return Assessment(score=earned, mistake=named.name, says=(named.says,))


def _of_range(quantity: Quantity, answer: Number) -> Assessment:
    """Mark a range by its width if it holds the reference, else by its nearer end."""
    low, high, right = quantity.low, quantity.high, answer.value
    score = credit_of_range(low, high, right, answer.band)
    if low <= right <= high:
        holds = f"Your range holds it{_width(low, high)}."
        return Assessment(score=score, mistake=None, says=(holds,), held=True)
    nearer = high if high < right else low
    says = ("Your range misses it.", *_of_distance(nearer, answer, "Its nearer end"))
    return Assessment(score=score, mistake=None, says=says, held=False)


def _width(low: Fraction, high: Fraction) -> str:
    if not low:
        return ""
    if high / low < NARROW:
        return f"; its upper end is {_share(high / low - 1)} above the lower"
    return f"; its upper end is {rounded(high / low, 3)} times the lower"


def _share(part: Fraction) -> str:
    """Return a share in percent, a small one with a digit more: none is 0%."""
    if part < Fraction(1, 1000):
        return "less than 0.1%"
    return f"{float(part):.0%}" if part >= NARROW - 1 else f"{float(part):.1%}"


def _of_distance(number: Fraction, answer: Number, whose: str = "Yours") -> Iterator[str]:
    right = answer.value
    if not number or not right:
        return
    ratio = max(number / right, right / number)
    word = "high" if number > right else "low"
    if ratio < DOUBLE:
        off, full = abs(number / right - 1), FULL_CREDIT[answer.band]
        # Rounded, it would be what still earns all of the credit.
        just = off > full >= round(off, 2) and off >= NARROW - 1
        yield f"{whose} is {'just over ' if just else ''}{_share(off)} too {word}."
    else:
        times = rounded(ratio, 3) if ratio <= FARTHEST else f"more than {FARTHEST:,}"
        yield f"{whose} is too {word} by a factor of {times}."


def _of_full(exchanged: Mistake | None) -> Iterator[str]:
    if exchanged:
        yield f"It is as far off as {exchanged.name} would be: check the unit."
