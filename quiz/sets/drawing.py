"""Draws a set: (blueprint, seed) fix the kinds, (seed, student, place) the numbers of each sheet.

A student who is added below the others changes no sheet. Where a draw gives what a student further
up in the roster has, the next one of the same stream is taken: kinds with some thousand questions
would give two of a class the same every second time.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from problems.draw import Draw
from problems.kind import Kind
from problems.problem import Level, Problem
from problems.registry import build
from quiz.release import VERSION
from quiz.sets.blueprint import Blueprint, Part
from quiz.sets.minutes import minutes_of
from quiz.sets.problem_set import ProblemSet, Slot, Student, Variant

Asked = tuple[str, str]
"""The prompt and the exhibit of a problem."""

SEEDS = 10**9
STREAM = "set"
# Draws until a place has a problem that nobody has; then the set is refused.
TRIES = 20
# The rule of `memquiz check` that kinds with few questions cannot keep.
REPEATS = "distinct"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A slot before its minutes are known."""

    number: int
    kind: Kind
    level: Level
    part: Part

    def seeds(self, seed: int, student: Student | None) -> Iterator[int]:
        """Yield the seeds of problems that may stand here on the sheet of `student`."""
        whose = "" if student is None or self.part.same else student.id
        digest = hashlib.blake2b(whose.encode(), digest_size=16).hexdigest()
        draw = Draw(f"{STREAM} {digest} {self.number}", seed)
        for _ in range(1 if self.part.same else TRIES):
            yield self.kind.seed_at(self.level, draw.below(SEEDS))


def draw_set(blueprint: Blueprint, seed: int, students: Iterable[Student] = ()) -> ProblemSet:
    """Return the set of a blueprint and a seed: one sheet for everyone, or one a student.

    Args:
        blueprint: what it is made of.
        seed: from 0 to `SEEDS` - 1.
        students: none where one sheet is for everyone; walked once, sheet by sheet.
    """
    told = iter(students)
    first = next(told, None)
    places = tuple(_places(blueprint, seed, personal=first is not None))
    asked: dict[int, set[Asked]] = {place.number: set() for place in places}
    variants = tuple(
        Variant(
            student=student,
            problems=tuple(
                _unasked(place, seed, student, asked[place.number]) for place in places
            ),
        )
        for student in chain((first,), told)
    )
    return ProblemSet(
        title=blueprint.title,
        version=VERSION,
        seed=seed,
        slots=tuple(_slot(place, seed) for place in places),
        variants=variants,
    )


def _unasked(place: _Place, seed: int, student: Student | None, asked: set[Asked]) -> Problem:
    """Return the first problem that nobody has yet, or the last one tried."""
    tried = (build(place.kind.name, at) for at in place.seeds(seed, student))
    problem = next(tried)
    while _asks(problem) in asked and (another := next(tried, None)) is not None:
        problem = another
    asked.add(_asks(problem))
    return problem


def _asks(problem: Problem) -> Asked:
    return problem.prompt, problem.exhibit


def _places(blueprint: Blueprint, seed: int, *, personal: bool) -> Iterator[_Place]:
    """Yield the places: kinds that no place has yet come before those that one has.

    Kinds that have too few questions for a class are drawn only where there are no others.
    """
    draw, used, number = Draw(STREAM, seed), list[str](), 0
    for part in blueprint.parts:
        many = [kind for kind in part.kinds if REPEATS not in kind.allows]
        drawn_from = many if many and personal and not part.same else part.kinds
        for _ in range(part.count):
            number += 1
            least = min(used.count(kind.name) for kind in drawn_from)
            rest = [kind for kind in drawn_from if used.count(kind.name) == least]
            kind = draw.choice(rest)
            level = draw.choice([one for one in kind.levels if one in part.levels])
            used.append(kind.name)
            yield _Place(number=number, kind=kind, level=level, part=part)


def _slot(place: _Place, seed: int) -> Slot:
    """Return the slot; its minutes are those of everyone's problem, whoever is in the roster."""
    minutes = place.part.minutes
    if minutes is None:
        minutes = minutes_of(build(place.kind.name, next(place.seeds(seed, None))))
    return Slot(
        number=place.number,
        kind=place.kind.name,
        topic=place.kind.topic,
        level=place.level,
        points=place.part.points,
        minutes=minutes,
        same=place.part.same,
    )
