"""What a changed key moves: the same answers, marked by the key before and by the one now."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from quiz.classes.marks import Mark, Marked, Result
from quiz.sets.problem_set import Student


@dataclass(frozen=True, kw_only=True)
class Move:
    """A question whose points are others now, for one student.

    Args:
        number: of the question.
        text: the answer as it was typed.
        before: its points by the key before; None where that had no such question.
        now: its points; None where the question is gone.
        words: what the answer was called before and is called now.
    """

    number: int
    text: str
    before: Fraction | None
    now: Fraction | None
    words: tuple[str, str]

    @property
    def by(self) -> Fraction:
        """How many points more it has now."""
        return (self.now or Fraction(0)) - (self.before or Fraction(0))


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A student who has other points now, or points of others.

    Args:
        student: who.
        before: points and of how many they were, by the key before.
        now: the same now.
        moves: the questions that differ.
    """

    student: Student
    before: tuple[Fraction, Fraction]
    now: tuple[Fraction, Fraction]
    moves: tuple[Move, ...]

    @property
    def by(self) -> Fraction:
        """How many points more there are now."""
        return self.now[0] - self.before[0]

    @property
    def by_share(self) -> Fraction:
        """How much more of all points there is now, from -1 to 1."""
        return _share(self.now) - _share(self.before)

    @property
    def is_of_points(self) -> bool:
        """Whether points of a question moved, and not the total alone."""
        return any(move.by for move in self.moves)


def moved(before: Marked, now: Marked) -> tuple[Moved, ...]:
    """Return the students whose points differ, in the order of the class."""
    return tuple(_moved(before, now))


def not_before(before: Marked, now: Marked) -> tuple[Student, ...]:
    """Return the students of whom the key before knew nothing."""
    known = {result.student.id for result in before.results}
    return tuple(one.student for one in now.results if one.student.id not in known)


def _moved(before: Marked, now: Marked) -> Iterator[Moved]:
    earlier = {result.student.id: result for result in before.results}
    for result in now.results:
        old = earlier.get(result.student.id)
        if old is None:
            continue
        moves = tuple(_moves(old, result))
        if moves or (old.points, old.of) != (result.points, result.of):
            yield Moved(
                student=result.student,
                before=(old.points, old.of),
                now=(result.points, result.of),
                moves=moves,
            )


def _moves(old: Result, new: Result) -> Iterator[Move]:
    was = {mark.slot.number: mark for mark in old.marks}
    now = {mark.slot.number: mark for mark in new.marks}
    for number in sorted(was | now):
        one, other = was.get(number), now.get(number)
        if _points(one) != _points(other):
            shown = other or one
            yield Move(
                number=number,
                text="" if shown is None else shown.text,
                before=_points(one),
                now=_points(other),
                words=(_word(one), _word(other)),
            )


def _share(points: tuple[Fraction, Fraction]) -> Fraction:
    return points[0] / points[1] if points[1] else Fraction(0)


def _points(mark: Mark | None) -> Fraction | None:
    return None if mark is None else mark.points


def _word(mark: Mark | None) -> str:
    return "not asked" if mark is None else mark.word
