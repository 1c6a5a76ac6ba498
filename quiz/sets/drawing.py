"""Draws a set: (blueprint, seed) fix the kinds, (seed, student, place) the numbers of each sheet.

A sheet does not depend on who else is in the roster, so that a student who comes late gets a sheet
and the others keep theirs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from problems.draw import Draw
from problems.kind import Kind
from problems.problem import Level
from problems.registry import build
from quiz.release import VERSION
from quiz.sets.blueprint import Blueprint, Part
from quiz.sets.minutes import minutes_of
from quiz.sets.problem_set import ProblemSet, Slot, Student, Variant

SEEDS = 10**9
STREAM = "set"
# The rule of `memquiz check` that kinds with few questions cannot keep.
REPEATS = "distinct"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A slot before its minutes are known."""

    number: int
    kind: Kind
    level: Level
    part: Part

    def seed(self, seed: int, student: Student | None) -> int:
        """Return the seed of the problem that stands here on the sheet of `student`."""
        whose = "" if student is None or self.part.same else student.id
        digest = hashlib.blake2b(whose.encode(), digest_size=16).hexdigest()
        drawn = Draw(f"{STREAM} {digest} {self.number}", seed).below(SEEDS)
        return self.kind.seed_at(self.level, drawn)


def draw_set(blueprint: Blueprint, seed: int, students: Sequence[Student] = ()) -> ProblemSet:
    """Return the set of a blueprint and a seed: one sheet for everyone, or one a student."""
    places = tuple(_places(blueprint, seed, personal=bool(students)))
    variants = tuple(
        Variant(
            student=student,
            problems=tuple(build(one.kind.name, one.seed(seed, student)) for one in places),
        )
        for student in (students or (None,))
    )
    return ProblemSet(
        title=blueprint.title,
        version=VERSION,
        seed=seed,
        slots=tuple(_slot(place, variants) for place in places),
        variants=variants,
    )


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


def _slot(place: _Place, variants: Sequence[Variant]) -> Slot:
    estimated = max(minutes_of(variant.problems[place.number - 1]) for variant in variants)
    minutes = place.part.minutes
    return Slot(
        number=place.number,
        kind=place.kind.name,
        topic=place.kind.topic,
        level=place.level,
        points=place.part.points,
        minutes=estimated if minutes is None else minutes,
        same=place.part.same,
    )
