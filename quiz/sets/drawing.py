"""Draws a set: (blueprint, seed) fix the kinds, (seed, student, place) the numbers of each sheet.

A student who is added below the others changes no sheet. Where a draw gives what a student further
up in the roster has, the next one of the same stream is taken: kinds with some thousand questions
would give two of a class the same every second time.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from engine.errors import Fault, InputError
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
# Draws until a place has a problem of its type that nobody has; then the set is refused.
TRIES = 50
# The rule of `memquiz check` that kinds with few questions cannot keep.
REPEATS = "distinct"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A slot before its minutes are known."""

    number: int
    kind: Kind
    level: Level
    part: Part

    def usual(self, seed: int) -> Problem:
        """Return the problem by which the type of answer and the minutes of all are known.

        Raises:
            InputError: the kind asks for none of the types that its part names.
        """
        tried = (build(self.kind.name, at) for at in self.seeds(seed, None))
        wanted = self.part.types
        found = next((one for one in tried if not wanted or one.answer.type in wanted), None)
        if found is None:
            what = f"{self.kind.name} found no question of type {', '.join(wanted)}"
            raise InputError(Fault(f"question {self.number}", what, "another --seed or type"))
        return found

    def seeds(self, seed: int, student: Student | None) -> Iterator[int]:
        """Yield the seeds of problems that may stand here on the sheet of `student`."""
        whose = "" if student is None or self.part.same else student.id
        digest = hashlib.blake2b(whose.encode(), digest_size=16).hexdigest()
        draw = Draw(f"{STREAM} {digest} {self.number}", seed)
        for _ in range(TRIES):
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
    usual = tuple(place.usual(seed) for place in places)
    asked: dict[int, set[Asked]] = {place.number: set() for place in places}

    def sheet(student: Student | None) -> Iterator[Problem]:
        for place, all_have in zip(places, usual, strict=True):
            if student is None or place.part.same:
                yield all_have
            else:
                tried = (build(place.kind.name, at) for at in place.seeds(seed, student))
                yield _unasked(tried, all_have.answer.type, asked[place.number])

    variants = tuple(
        Variant(student=student, problems=tuple(sheet(student)))
        for student in chain((first,), told)
    )
    return ProblemSet(
        title=blueprint.title,
        version=VERSION,
        seed=seed,
        slots=tuple(_slot(place, one) for place, one in zip(places, usual, strict=True)),
        variants=variants,
    )


def _unasked(tried: Iterator[Problem], type_: str, asked: set[Asked]) -> Problem:
    """Return the first problem of a type that nobody has yet, or the last one of the type."""
    of_type = (problem for problem in tried if problem.answer.type == type_)
    problem = next(of_type, None)
    if problem is None:
        raise InputError(Fault(type_, "no question of this type was found", "another --seed"))
    while _asks(problem) in asked and (another := next(of_type, None)) is not None:
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


def _slot(place: _Place, usual: Problem) -> Slot:
    minutes = place.part.minutes
    return Slot(
        number=place.number,
        kind=place.kind.name,
        topic=place.kind.topic,
        level=place.level,
        type=usual.answer.type,
        points=place.part.points,
        minutes=minutes_of(usual) if minutes is None else minutes,
        same=place.part.same,
    )
