"""Which mistake gives a wrong number, or which two together.

Three tiers, each asked only where the one before has nothing: the problem's own mistakes, and GB
taken for GiB; slips of reading that any size may have; two at once. Where a tier has two that
are equally near, nothing is named.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

from problems.answers.answer import Number
from problems.answers.numbers import amount
from problems.mistakes import share_of
from problems.problem import Mistake, Problem
from problems.slips import EXCHANGED, Slip, slips
from quiz.answers import Quantity
from quiz.marking.nearness import EQUALLY_NEAR, NAMED_WITHIN, UNITS, distance, slip
from quiz.marking.verdict import BOTH

# Two mistakes at once give so many numbers that only a near one tells anything.
PAIR_WITHIN = Fraction(5, 1000)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What explains a wrong number.

    Args:
        mistakes: one name, or two.
        value: the number that they give.
        share: of the credit, below 1; of two, what is left of it.
        says: what went wrong, with its size.
        also: other mistakes that give the number as well.
    """

    mistakes: tuple[str, ...]
    value: Fraction
    share: Fraction
    says: str
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The names, as one."""
        return BOTH.join(self.mistakes)


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two mistakes at once, and the number that they give."""

    mistakes: tuple[Mistake, Mistake]
    value: Fraction


N = TypeVar("N", Mistake, _Pair)


def diagnose(problem: Problem, quantity: Quantity | Fraction) -> Diagnosis | None:
    """Return the mistake, or the two, that give a number; None where none does or too many do.

    Args:
        problem: asks for a quantity, alone or as the proof of a yes or no.
        quantity: what was answered, as it was read, or in the unit of the answer; of a range its
            middle is looked at.
    """
    number = quantity.value if isinstance(quantity, Quantity) else quantity
    found = explained(problem, number)
    return None if found is None or found.also else found


def explained(problem: Problem, number: Fraction) -> Diagnosis | None:
    """Return what `diagnose` does, also where other mistakes give the number as well."""
    answer = problem.answer.number
    if answer is None:
        return None
    own, said = [*problem.mistakes], list(slips(problem, answer))
    exchanged = slip(number, answer.value) if answer.unit == "bytes" else None
    if exchanged is not None and exchanged.name not in {mistake.name for mistake in own}:
        own.append(exchanged)
    for tier in (own, [one.of(answer.value) for one in said]):
        found = _near(number, tier, NAMED_WITHIN)
        if found:
            single = _nearest(found)
            return None if single is None else _single(single)
    pairs = [*_pairs(problem.mistakes, answer), *_said_wrong(problem.mistakes, answer, said)]
    pair = _nearest(_near(number, pairs, PAIR_WITHIN))
    return None if pair is None else _both(pair, answer)


def slip_names(problem: Problem, answer: Number) -> Iterator[str]:
    """Yield the names of the slips that a number in place of `answer` can be traced to."""
    yield from (slipped.name for slipped in slips(problem, answer))
    if answer.unit != "bytes":
        return
    for decimal, binary, _, least, most in UNITS:
        if least <= answer.value <= most:
            yield from (f"{binary} typed as {decimal}", f"{decimal} typed as {binary}")


def several(found: Diagnosis | Mistake | None) -> list[str]:
    """Return the sentence that lists the mistakes which all give a number."""
    if found is None or not found.also:
        return []
    return [f"More than one slip gives it: {'; '.join((found.name, *found.also))}."]


def _single(mistake: Mistake) -> Diagnosis:
    return Diagnosis(
        mistakes=(mistake.name,),
        value=mistake.value,
        share=share_of(mistake),
        says=mistake.feedback,
        also=mistake.also,
    )


def _near(number: Fraction, known: Sequence[N], within: Fraction) -> list[tuple[Fraction, N]]:
    """Return those that give `number` within a share of it, the nearest first."""
    found = [
        (off, one)
        for one in known
        if (off := distance(number, one.value)) is not None and off <= within
    ]
    return sorted(found, key=lambda row: row[0])


def _nearest(found: Sequence[tuple[Fraction, N]]) -> N | None:
    """Return the nearest, unless the next one is as near."""
    if not found or (len(found) > 1 and found[1][0] - found[0][0] <= EQUALLY_NEAR):
        return None
    return found[0][1]


def _pairs(mistakes: Sequence[Mistake], answer: Number) -> Iterator[_Pair]:
    """Yield two mistakes at once, of different terms of the sum: their differences add up."""
    for one, other in combinations(mistakes, 2):
        value = one.value + other.value - answer.value
        if one.moves and other.moves and not one.moves & other.moves and value > 0:
            yield _Pair(mistakes=(one, other), value=value)


def _said_wrong(
    mistakes: Sequence[Mistake], answer: Number, said: Sequence[Slip]
) -> Iterator[_Pair]:
    """Yield mistakes whose number was then said wrong."""
    if answer.unit != "bytes":
        return
    for one in mistakes:
        for slipped in (*EXCHANGED, *said):
            if one.moves:
                other = slipped.of(one.value)
                yield _Pair(mistakes=(one, other), value=other.value)


def _both(pair: _Pair, answer: Number) -> Diagnosis:
    one, other = pair.mistakes
    names, *others = product((one.name, *one.also), (other.name, *other.also))
    return Diagnosis(
        mistakes=names,
        value=pair.value,
        share=share_of(one) * share_of(other),
        says=f"Two things at once, {' and '.join(names)}, give {amount(pair.value, answer.unit)}. "
        f"{one.feedback} {other.feedback}",
        also=tuple(map(BOTH.join, others)),
    )
