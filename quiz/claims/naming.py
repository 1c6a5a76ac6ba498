"""Which point or false statement is meant: the one whose words are nearest to those of the answer.

Words and concepts count by how rare they are. A statement is its own sentence together with the
answers that are known to make it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Generic, TypeVar

from problems.claims import Claim, FalseStatement, Point, falsehoods
from quiz.claims.clauses import Clause
from quiz.claims.features import plain_names
from quiz.claims.reading import Reading, read
from quiz.claims.weights import weights

T = TypeVar("T", Point, FalseStatement)
Profile = Mapping[str, float]

# How near an answer must be to a false statement of the claim to be told so, and to one that may
# be heard in any answer; and by how much the second must be nearer.
OWN, OF_THE_FIELD, NEARER = 0.22, 0.5, 0.2
# How near an answer, or a clause of it, must be to a point to make it.
MADE = 0.2


@dataclass(frozen=True, kw_only=True)
class Meant(Generic[T]):
    """A statement and the clause that makes it.

    Args:
        what: the point or the false statement.
        where: the clause nearest to it.
        near: how near the answer or this clause is to it, the nearer of the two, 0 to 1.
        whole: how near the answer is.
    """

    what: T
    where: Clause
    near: float
    whole: float


def profile(answer: Reading, rarity: Callable[[str], float]) -> Profile:
    """Return how much of an answer each of its words and concepts is: a row of length 1."""
    return unit({name: rarity(name) for name in plain_names(answer.typed, answer.said)})


def unit(row: Profile) -> Profile:
    """Return a row with the length 1; one of nothing stays as it is."""
    length = sqrt(sum(value * value for value in row.values()))
    return {name: value / length for name, value in row.items()} if length else row


def points_made(
    asked: Claim, answer: Reading, earned: Sequence[float], *, core: bool
) -> list[Meant[Point]]:
    """Return the points that an answer makes.

    Args:
        asked: the claim.
        answer: the answer as it was read.
        earned: for each token, how much it speaks for the core reason.
        core: whether the core reason is given: the nearest core point is then made, however far.
    """
    meant = list(_meant(asked, answer, asked.points, earned))
    cores = [one for one in meant if one.what.core] if core else []
    made = [one for one in meant if one.near >= MADE and (core or not one.what.core)]
    nearest = sorted(cores, key=lambda one: -one.near)[:1]
    return [*(one for one in nearest if one not in made), *made]


def error_meant(
    asked: Claim, answer: Reading, lost: Sequence[float]
) -> Meant[FalseStatement] | None:
    """Return the false statement nearest to an answer that makes one; None where none is near."""
    general = (error for error in falsehoods() if asked.id not in error.unless)
    meant = tuple(_meant(asked, answer, (*asked.errors, *general), lost))
    many = len(asked.errors)
    own = [one for one in meant[:many] if one.whole >= OWN]
    field = [one for one in meant[many:] if one.near >= OF_THE_FIELD]
    nearest = max(own, key=lambda one: one.whole, default=None)
    of_field = max(field, key=lambda one: one.near, default=None)
    if nearest is None or (of_field is not None and of_field.near > nearest.near + NEARER):
        return of_field
    return nearest


def fullest(answer: Reading, shares: Sequence[float]) -> Clause:
    """Return the clause whose tokens have the largest share."""
    return max(_own(answer), key=lambda clause: _share(clause, shares))


def _meant(
    asked: Claim, answer: Reading, statements: Iterable[T], shares: Sequence[float]
) -> Iterator[Meant[T]]:
    rarity = weights().rarity
    profiles = [
        (clause, profile(replace(answer, said=(clause,)), rarity)) for clause in _own(answer)
    ]
    entire = profile(answer, rarity)
    for statement in statements:
        words = weights().statement(asked.id, statement.id) or _sentence(asked, statement)
        near = [(_dot(row, words), clause) for clause, row in profiles]
        nearest, where = max(near, key=lambda one: (one[0], _share(one[1], shares)))
        whole = _dot(entire, words)
        yield Meant(what=statement, where=where, near=max(nearest, whole), whole=whole)


def _own(answer: Reading) -> Sequence[Clause]:
    """Return the clauses that the writer says as their own, all where none is."""
    return [clause for clause in answer.said if clause.asserted] or answer.said


def _share(clause: Clause, shares: Sequence[float]) -> float:
    return sum(shares[clause.first : clause.last + 1])


@cache
def _sentence(asked: Claim, statement: Point | FalseStatement) -> Profile:
    """Return the words of a statement that no answer is known to make: its own sentence."""
    return profile(read(asked, statement.says), weights().rarity)


def _dot(row: Profile, words: Profile) -> float:
    return sum(value * words.get(name, 0.0) for name, value in row.items())
