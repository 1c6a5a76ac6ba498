"""Draws a set: (blueprint, seed) fix the kinds, (seed, student, place) the numbers of each sheet.

A student who is added below the others changes no sheet. Where a draw gives what a student further
up in the roster has, the next one of the same stream is taken: kinds with some thousand questions
would give two of a class the same every second time.
"""

import hashlib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
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

    def usual(self, seed: int, on_sheet: set[Asked]) -> Problem:
        """Return the problem by which the type of answer and the minutes of all are known.

        Args:
            seed: of the set.
            on_sheet: what stands on the same sheet already; the problem is put there.

        Raises:
            InputError: the kind asks for none of the types that its part names.
        """
        tried = (build(self.kind.name, at) for at in self.seeds(seed, None))
        wanted = self.part.types
        of_type = (one for one in tried if not wanted or one.answer.type in wanted)
        if found := _first_unasked(of_type, on_sheet):
            on_sheet.add(_asks(found))
            return found
        what = f"{self.kind.name} found no question of type {', '.join(wanted)}"
        raise InputError(Fault(f"question {self.number}", what, "another --seed or type"))

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
    for_all = set[Asked]()
    usual = tuple(place.usual(seed, for_all) for place in places)
    asked: dict[int, set[Asked]] = {place.number: set() for place in places}

    def sheet(student: Student | None) -> Iterator[Problem]:
        alike = [one for place, one in zip(places, usual, strict=True) if place.part.same]
        on_sheet = set(map(_asks, alike))
        for place, all_have in zip(places, usual, strict=True):
            if student is None or place.part.same:
                yield all_have
                continue
            tried = (build(place.kind.name, at) for at in place.seeds(seed, student))
            of_type = (one for one in tried if one.answer.type == all_have.answer.type)
            found = _first_unasked(of_type, asked[place.number] | on_sheet) or all_have
            asked[place.number].add(_asks(found))
            on_sheet.add(_asks(found))
            yield found

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


def _first_unasked(tried: Iterator[Problem], asked: AbstractSet[Asked]) -> Problem | None:
    """Return the first problem that is not asked, else the last one; None where there is none."""
    problem = next(tried, None)
    while (
        problem is not None
        and _asks(problem) in asked
        and (another := next(tried, None)) is not None
    ):
        problem = another
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
