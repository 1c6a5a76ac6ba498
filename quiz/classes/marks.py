"""A class's answers, marked: what each earned, and what each student has in all."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.classes.answers import Answers, Cell
from quiz.marking.verdict import CLOSE_CALL, Verdict
from quiz.sets.problem_set import ProblemSet, Slot, Student

State = Literal["marked", "unreadable", "empty", "absent"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What one student has for one question.

    Args:
        student: whose it is.
        slot: the place of the question.
        problem: the question.
        cell: the answer as it stands in the file; None where no cell is for it.
        found: what marking gave; None where nothing was answered.
    """

    student: Student
    slot: Slot
    problem: Problem
    cell: Cell | None
    found: Verdict | Unreadable | None

    @property
    def state(self) -> State:
        """What became of the answer."""
        if self.cell is None:
            return "absent"
        if self.found is None:
            return "empty"
        return "marked" if isinstance(self.found, Verdict) else "unreadable"

    @property
    def text(self) -> str:
        """The answer as it was typed."""
        return "" if self.cell is None else self.cell.text

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, where there is one."""
        return self.found if isinstance(self.found, Verdict) else None

    @property
    def word(self) -> str:
        """What became of it: "correct", "partial", "wrong", "unreadable", "not answered"."""
        if isinstance(self.found, Verdict):
            return self.found.verdict
        return "unreadable" if self.found is not None else "not answered"

    @property
    def said(self) -> str:
        """What is said to the student of it."""
        if isinstance(self.found, Unreadable):
            return f"at character {self.found.offset + 1}: {self.found.reason}"
        return "" if self.found is None else self.found.feedback

    @property
    def score(self) -> Fraction:
        """The share of the credit, 0 where nothing could be marked."""
        return self.found.score if isinstance(self.found, Verdict) else Fraction(0)

    @property
    def points(self) -> Fraction:
        """What it is worth."""
        return self.slot.points * self.score

    @property
    def doubt(self) -> str:
        """Why a person should look at it; "" where nothing speaks for that."""
        remarks = () if self.verdict is None else self.verdict.remarks
        return next((one for one in remarks if one.startswith(CLOSE_CALL)), "")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a student has for all questions, in the order of the slots."""

    student: Student
    marks: tuple[Mark, ...]

    @cached_property
    def points(self) -> Fraction:
        """The points of all questions together."""
        return sum((mark.points for mark in self.marks), Fraction(0))

    @cached_property
    def of(self) -> Fraction:
        """The points that there are."""
        return sum((mark.slot.points for mark in self.marks), Fraction(0))

    @property
    def share(self) -> Fraction | None:
        """Of all points, from 0 to 1; None where no question counts."""
        return self.points / self.of if self.of else None


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A class's answers, marked.

    Args:
        problems: the set.
        answers: as they stand in the file.
        results: of every student with a row that counts.
        absent: students of the key without one.
    """

    problems: ProblemSet
    answers: Answers
    results: tuple[Result, ...]
    absent: tuple[Student, ...]

    def column(self, at: int) -> tuple[Mark, ...]:
        """Return the marks of the question at a place."""
        return tuple(result.marks[at] for result in self.results)

    def all(self) -> Iterator[Mark]:
        """Yield every mark, student by student."""
        yield from (mark for result in self.results for mark in result.marks)

    @cached_property
    def sum(self) -> "Sum":
        """What became of all cells."""
        states = [mark.state for mark in self.all()]
        return Sum(
            cells=self.answers.cells,
            marked=states.count("marked"),
            unreadable=states.count("unreadable"),
            empty=states.count("empty"),
            unused=sum(one.cells for one in self.answers.unused),
        )


@dataclass(frozen=True, kw_only=True)
class Sum:
    """What became of all cells of the file that are no id, no name and name no question."""

    cells: int
    marked: int
    unreadable: int
    empty: int
    unused: int

    @property
    def adds_up(self) -> bool:
        """Whether every cell became one of these."""
        return self.cells == self.marked + self.unreadable + self.empty + self.unused

    @property
    def said(self) -> str:
        """The sum, in words."""
        return (
            f"{self.cells:,} cells = {self.marked:,} marked + {self.empty:,} empty + "
            f"{self.unreadable:,} unreadable + {self.unused:,} not used"
        )
