"""The points and the false statements heard in an answer, and where."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from problems.claims import Claim, FalseStatement, Point, falsehoods
from quiz.claims.clauses import Clause
from quiz.claims.frames import heard, heard_anywhere
from quiz.claims.known import Repeated
from quiz.claims.lexicon import Mention

T = TypeVar("T", Point, FalseStatement)


@dataclass(frozen=True, kw_only=True)
class Heard(Generic[T]):
    """A point or a false statement heard.

    Args:
        what: the point or the statement.
        place: the mentions that make it up; none where a whole sentence repeats it.
        whole: the sentence that repeats it.
    """

    what: T
    place: tuple[Mention, ...]
    whole: Repeated | None

    @property
    def ends(self) -> tuple[int, int]:
        """Its first and its last token."""
        if self.whole:
            return self.whole.first, self.whole.last
        return min(m.first for m in self.place), max(m.last for m in self.place)


def reasons(
    asked: Claim, own: Sequence[Clause], again: Sequence[Repeated]
) -> tuple[Sequence[Heard[Point]], Sequence[Heard[FalseStatement]]]:
    """Return the points made and the false statements made.

    Args:
        asked: the claim.
        own: the clauses that the writer says as their own; quotations make points, but no errors.
        again: sentences that repeat the claim's own.
    """
    points = list(_points(asked, own, again))
    plain = [clause for clause in own if not clause.quoted]
    errors = list(_beside(_errors(asked, plain, again), points, own))
    return list(_but_for(points, errors, own)), errors


def nearly(asked: Claim, own: Sequence[Clause]) -> Iterator[Heard[Point]]:
    """Yield the first core point whose concepts are all named, though not in one statement."""
    for point in (point for point in asked.points if point.core):
        places = (heard_anywhere(written, own) for written in point.frames)
        place = next((place for place in places if place), ())
        if place:
            yield Heard(what=point, place=place, whole=None)
            return


def first(
    frames: Sequence[str], said: Sequence[Clause], topic: frozenset[str] = frozenset()
) -> tuple[Mention, ...]:
    """Return the mentions by which one of the frames is first heard; none where none is."""
    places = (place for written in frames for place in heard(written, said, topic))
    return next(places, ())


def _beside(
    errors: Iterable[Heard[FalseStatement]],
    points: Sequence[Heard[Point]],
    said: Sequence[Clause],
) -> Iterator[Heard[FalseStatement]]:
    """Yield the errors but for those that may be no more than the core reason misheard."""
    core = {first for one in points if one.what.core for first in _clauses_of(one.place, said)}
    for one in errors:
        if one.whole or one.what.firm or not _clauses_of(one.place, said) <= core:
            yield one


def _but_for(
    points: Iterable[Heard[Point]],
    errors: Sequence[Heard[FalseStatement]],
    said: Sequence[Clause],
) -> Iterator[Heard[Point]]:
    """Yield the points but for those that may be no more than a false statement misheard."""
    firm = [(_clauses_of(one.place, said), set(one.place)) for one in errors if one.what.firm]
    for one in points:
        where = _clauses_of(one.place, said)
        misheard = any(where <= there and shared & {*one.place} for there, shared in firm)
        if one.whole or not misheard:
            yield one


def _clauses_of(place: Sequence[Mention], said: Sequence[Clause]) -> set[int]:
    return {
        clause.first for clause in said for m in place if clause.first <= m.first <= clause.last
    }


def _points(
    asked: Claim, said: Sequence[Clause], again: Sequence[Repeated]
) -> Iterator[Heard[Point]]:
    """Yield the points made, with where; a false statement or the claim repeated makes none."""
    free = _but_in(said, again, {"error", "claim"})
    for point in asked.points:
        place = first(point.frames, free)
        whole = next((r for r in again if r.of == "point" and r.name == point.id), None)
        whole = whole or next((r for r in again if r.of == "core" and point.core), None)
        if place or whole:
            yield Heard(what=point, place=place, whole=whole)


def _errors(
    asked: Claim, said: Sequence[Clause], again: Sequence[Repeated]
) -> Iterator[Heard[FalseStatement]]:
    """Yield the false statements made, with where; a true sentence repeated makes none."""
    free = _but_in(said, again, {"point", "core", "error", "claim"})
    general = [error for error in falsehoods() if asked.id not in error.unless]
    for error in (*asked.errors, *general):
        place = first(error.frames, free)
        whole = next((r for r in again if r.of == "error" and r.name == error.id), None)
        if place or whole:
            yield Heard(what=error, place=place, whole=whole)


def _but_in(said: Sequence[Clause], again: Sequence[Repeated], of: set[str]) -> Sequence[Clause]:
    """Return the clauses that are not part of a sentence which repeats one of these."""
    taken = [one for one in again if one.of in of]
    return [c for c in said if not any(one.first <= c.first <= one.last for one in taken)]
