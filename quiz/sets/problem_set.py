"""A set of problems, for everyone or for each student of a roster, as frozen values."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from problems.problem import Level, Problem


@dataclass(frozen=True, kw_only=True)
class Student:
    """Somebody of the roster: `id` as it stands there, and a name, "" where there is none."""

    id: str
    name: str = ""

    @property
    def said(self) -> str:
        """The name with the id, or the id alone."""
        return f"{self.name} ({self.id})" if self.name else self.id


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One place of the set, which every variant fills with a problem of the same kind and level.

    Args:
        number: from 1 on.
        kind: the name of the kind.
        topic: a key of `problems.problem.TOPICS`.
        level: the one at which everybody is asked.
        type: of the answer, which everybody is asked for.
        points: what a right answer is worth; 0 where the slot does not count.
        minutes: that a person who knows how needs, as `quiz.sets.minutes` estimates.
        same: whether everybody has the same problem.
    """

    number: int
    kind: str
    topic: str
    level: Level
    type: str
    points: Fraction = Fraction(1)
    minutes: Fraction
    same: bool = False


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The problems of one student, in the order of the slots; `student` None is everyone."""

    student: Student | None = None
    problems: tuple[Problem, ...]

    @property
    def said(self) -> str:
        """Whose it is."""
        return "everyone" if self.student is None else self.student.said


@dataclass(frozen=True, kw_only=True)
class ProblemSet:
    """Problems for a class.

    Args:
        title: what stands above the sheet.
        version: of memquiz, that drew it.
        seed: with the same blueprint, seed, student and version a sheet is the same.
        slots: the places, in order.
        variants: one for everyone, or one for each student in the order of the roster.
    """

    title: str
    version: str
    seed: int
    slots: tuple[Slot, ...]
    variants: tuple[Variant, ...]

    @property
    def minutes(self) -> Fraction:
        """The minutes of all slots together."""
        return sum((slot.minutes for slot in self.slots), Fraction(0))

    @property
    def points(self) -> Fraction:
        """The points of all slots together."""
        return sum((slot.points for slot in self.slots), Fraction(0))

    @property
    def is_personal(self) -> bool:
        """Whether each student has a variant."""
        return self.variants[0].student is not None

    def column(self, slot: Slot) -> Iterator[tuple[Variant, Problem]]:
        """Yield every variant with its problem in a slot."""
        at = self.slots.index(slot)
        yield from ((variant, variant.problems[at]) for variant in self.variants)
