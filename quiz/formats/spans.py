"""What a number earns, as the grader has it: spans of numbers that do not overlap.

Full credit first, then the right number in a unit taken for another, the mistakes up to where the
next is nearer, and what is near. Where two mistakes are as good as equally near the grader names
none; here the border is exact.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from problems.answers.answer import FULL_CREDIT, Number
from problems.answers.count import CountAnswer
from problems.mistakes import share_of
from problems.problem import Mistake
from quiz.marking.nearness import (
    BANDS,
    DOUBLE,
    DOUBLE_CREDIT,
    NAMED_WITHIN,
    SLIP_WITHIN,
    UNITS,
    credit,
    slip,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Span:
    """Numbers that earn the same and are told the same.

    Args:
        low: the least of them, in the unit of the part.
        high: the greatest.
        share: of the credit of the part, from 0 to 1.
        mistake: the name of the mistake that gives them; "" where there is none.
        feedback: what is said of them; "" where nothing is.
        value: the one in the middle: the right number, or that of the mistake.
    """

    low: Fraction
    high: Fraction
    share: Fraction
    mistake: str = ""
    feedback: str = ""
    value: Fraction


def spans_of(answer: Number, mistakes: Sequence[Mistake], one: Fraction) -> Iterator[Span]:
    """Yield the span of full credit, and then all others; `one` is their unit."""
    right = _around(answer.value / one, FULL_CREDIT[answer.band], Fraction(1))
    wrong = [*_wrong(mistakes, one)]
    slips = [*_slips(answer, mistakes, one)]
    yield right
    yield from _graded(_apart([right, *slips], wrong, [*_near(answer, one)]), answer, one)


def spans_of_count(answer: CountAnswer, mistakes: Sequence[Mistake]) -> Iterator[Span]:
    """Yield the right number, and then each mistake's."""
    yield _around(Fraction(answer.value), Fraction(0), Fraction(1))
    for span in _wrong(mistakes, Fraction(1)):
        yield _cut(span, span.value, span.value)


def _around(value: Fraction, within: Fraction, share: Fraction) -> Span:
    return Span(low=value * (1 - within), high=value * (1 + within), share=share, value=value)


def _wrong(mistakes: Sequence[Mistake], one: Fraction) -> Iterator[Span]:
    """Yield the numbers that each mistake gives, with its own share of the credit."""
    for each in mistakes:
        span = _around(each.value / one, NAMED_WITHIN, share_of(each))
        yield replace(span, mistake=names(each), feedback=each.feedback)


def names(mistake: Mistake) -> str:
    """Return the name of a mistake with those of all that give the same."""
    return " or ".join((mistake.name, *mistake.also))


def _near(answer: Number, one: Fraction) -> Iterator[Span]:
    """Yield what is less near than full credit asks and earns a part, the nearer first."""
    value = answer.value / one
    for within, share in BANDS[answer.band][1:]:
        yield _around(value, within, share)
    if answer.band == "estimate":
        yield Span(low=value / DOUBLE, high=value * DOUBLE, share=DOUBLE_CREDIT, value=value)


def _slips(answer: Number, mistakes: Sequence[Mistake], one: Fraction) -> Iterator[Span]:
    """Yield the right number in a unit that was taken for another, where no mistake is nearer."""
    named = {each.name for each in mistakes}
    wrong = [*_wrong(mistakes, one)]
    for _, _, ratio, _, _ in UNITS if answer.unit == "bytes" else ():
        for value in (answer.value / ratio, answer.value * ratio):
            found = slip(value, answer.value)
            if found is None or found.name in named:
                continue
            span = next(_wrong([found], one))
            low, high = span.value * (1 - SLIP_WITHIN), span.value * (1 + SLIP_WITHIN)
            below = [_border(span, each) for each in wrong if each.value <= span.value]
            above = [_border(span, each) for each in wrong if each.value > span.value]
            span = _cut(span, max(low, *below, low), min(high, *above, high))
            if span.low < span.high:
                yield span


def _border(one: Span, other: Span) -> Fraction:
    """Return the number that is as many percent off the one as off the other."""
    return 2 * one.value * other.value / ((one.value + other.value) or 1)


def _apart(first: Sequence[Span], wrong: Sequence[Span], near: Sequence[Span]) -> Iterator[Span]:
    """Yield spans of which no two overlap: slips of units, mistakes up to the next, what is near.

    `first` is what is right and the slips. A bound that two share belongs to the one that comes
    first.
    """
    taken = list(first)
    for at, span in enumerate(first[1:], 1):
        yield from _rest(span, first[:at])
    ordered = sorted(wrong, key=lambda span: span.value)
    borders = [_border(before, after) for before, after in pairwise(ordered)]
    ends = [Fraction(0), *borders, *(span.high for span in ordered[-1:])]
    for span, least, most in zip(ordered, ends[:-1], ends[1:], strict=False):
        yield from _rest(_cut(span, max(span.low, least), min(span.high, most)), taken)
    taken += ordered
    for span in near:
        yield from _rest(span, taken)
        taken.append(span)


def _graded(spans: Iterable[Span], answer: Number, one: Fraction) -> Iterator[Span]:
    """Yield the spans, a mistake cut where its numbers earn more for being near, if any at all."""
    value = answer.value / one
    edges = {edge for span in _near(answer, one) for edge in (span.low, span.high)}
    for span in spans:
        inside = sorted(edge for edge in edges if span.mistake and span.low < edge < span.high)
        for low, high in pairwise([span.low, *inside, span.high]):
            near = credit((low + high) / 2, value, answer.band) if span.share else span.share
            yield replace(_cut(span, low, high), share=max(span.share, near))


def _rest(span: Span, taken: Sequence[Span]) -> Iterator[Span]:
    """Yield what is left of a span where others have taken theirs."""
    left = [(span.low, span.high)]
    for one in taken:
        left = [
            piece
            for low, high in left
            for piece in ((low, min(high, one.low)), (max(low, one.high), high))
            if piece[0] < piece[1]
        ]
    yield from (_cut(span, low, high) for low, high in dict.fromkeys(left))


def _cut(span: Span, low: Fraction, high: Fraction) -> Span:
    return replace(span, low=low, high=high)
