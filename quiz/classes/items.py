"""How the questions of a set did: difficulty, discrimination, the commonest mistakes.

Difficulty is the mean score, so that an easy question has a high one. Discrimination is said
twice: the correlation of a question's score with the points of all others (corrected item-rest),
and the mean score of the best 27% of a class less that of the last 27% (Kelley, J. Educ. Psychol.
30, 1939, pp. 17-24). What is empty or unreadable scored 0.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from quiz.classes.marks import Mark, Marked
from quiz.sets.problem_set import Slot

GROUP = Fraction(27, 100)
# With fewer the two numbers of discrimination say nothing.
FEWEST = 4
HARD, EASY = Fraction(1, 5), Fraction(95, 100)


@dataclass(frozen=True, kw_only=True)
class Slip:
    """A mistake that was made, by how many, of how many that answered so that it could be read."""

    name: str
    times: int
    of: int

    @property
    def share(self) -> Fraction:
        """Of those that answered."""
        return Fraction(self.times, self.of)


@dataclass(frozen=True, kw_only=True)
class Item:
    """How one question did.

    Args:
        slot: which.
        words: how often each word was given: "correct", "partial", "wrong", "unreadable", "not
            answered".
        difficulty: the mean score; None where nobody handed in.
        rest: the correlation of its score with the points of all other questions; None where one
            of the two is the same for all, or with fewer than four students.
        groups: the mean score of the best 27% less that of the last 27%; None as above.
        slips: its mistakes, the commonest first.
    """

    slot: Slot
    words: Counter[str]
    difficulty: Fraction | None
    rest: float | None
    groups: Fraction | None
    slips: tuple[Slip, ...]

    @property
    def concerns(self) -> tuple[str, ...]:
        """Why it is to be looked at; none where it does not count or nothing is the matter."""
        return tuple(self._concerns()) if self.slot.points else ()

    def _concerns(self) -> Iterator[str]:
        if self.difficulty is not None and self.difficulty < HARD:
            yield f"hard: the mean score is {float(self.difficulty):.2f}, below {float(HARD):g}"
        if self.difficulty is not None and self.difficulty > EASY:
            yield f"easy: the mean score is {float(self.difficulty):.2f}, above {float(EASY):g}"
        if self.rest is not None and self.rest < 0:
            yield (
                f"who did well elsewhere did worse here: its score goes with the other points "
                f"at {self.rest:.2f}"
            )


def items(marked: Marked) -> tuple[Item, ...]:
    """Return how each question did, in order."""
    totals = [result.points for result in marked.results]
    return tuple(
        _item(slot, marked.column(at), totals) for at, slot in enumerate(marked.problems.slots)
    )


def correlation(one: Sequence[Fraction], other: Sequence[Fraction]) -> float | None:
    """Return Pearson's; None where one of the two is the same everywhere, or there are too few."""
    number = len(one)
    if number < FEWEST:
        return None
    means = sum(one, Fraction(0)) / number, sum(other, Fraction(0)) / number
    both = sum((a - means[0]) * (b - means[1]) for a, b in zip(one, other, strict=True))
    squares = [
        sum(((x - mean) ** 2 for x in row), Fraction(0))
        for row, mean in zip((one, other), means, strict=True)
    ]
    if not all(squares):
        return None
    return float(both) / sqrt(float(squares[0] * squares[1]))


def best_and_last(scores: Sequence[Fraction], totals: Sequence[Fraction]) -> Fraction | None:
    """Return the mean score of the best 27% by total less that of the last 27%.

    Of students with the same total at the border each counts in part, so that no order of the
    class decides who is in a group.
    """
    if len(scores) < FEWEST:
        return None
    size = max(1, round(GROUP * len(scores)))
    return _mean_of(scores, totals, size) - _mean_of(scores, [-one for one in totals], size)


def _mean_of(scores: Sequence[Fraction], totals: Sequence[Fraction], size: int) -> Fraction:
    """Return the mean score of the `size` students with the highest totals."""
    border = sorted(totals, reverse=True)[size - 1]
    rows = [*zip(scores, totals, strict=True)]
    inside = [score for score, total in rows if total > border]
    on_it = [score for score, total in rows if total == border]
    left = Fraction(size - len(inside), len(on_it))
    return (sum(inside, Fraction(0)) + left * sum(on_it, Fraction(0))) / size


def _item(slot: Slot, marks: Sequence[Mark], totals: Sequence[Fraction]) -> Item:
    scores = [mark.score for mark in marks]
    rest = [total - mark.points for total, mark in zip(totals, marks, strict=True)]
    return Item(
        slot=slot,
        words=Counter(mark.word for mark in marks),
        difficulty=sum(scores, Fraction(0)) / len(scores) if scores else None,
        rest=correlation(scores, rest),
        groups=best_and_last(scores, totals),
        slips=tuple(slips(marks)),
    )


def slips(marks: Sequence[Mark]) -> Iterator[Slip]:
    """Yield the mistakes of a question, the commonest first."""
    verdicts = [mark.verdict for mark in marks if mark.verdict is not None]
    times = Counter(one.mistake for one in verdicts if one.mistake)
    for name, number in sorted(times.items(), key=lambda row: (-row[1], row[0])):
        yield Slip(name=name, times=number, of=len(verdicts))
