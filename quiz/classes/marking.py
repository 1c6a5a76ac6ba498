"""Marks a class's answers: each text once for each problem that it was typed for."""

from collections.abc import Iterator, Mapping

from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.classes.answers import Answers, Cell, Sheet
from quiz.classes.marks import Mark, Marked, Result
from quiz.grading import grade
from quiz.marking.verdict import Verdict
from quiz.sets.problem_set import ProblemSet

Found = Verdict | Unreadable


def mark(problems: ProblemSet, answers: Answers) -> Marked:
    """Return the marks of all answers, as `quiz.grading.grade` gives them one by one.

    A student of whom a personal key knows nothing has no marks.
    """
    asked, marker = problems_asked(problems), Marker()
    results = tuple(
        Result(student=sheet.student, marks=tuple(_marks(problems, sheet, asked, marker)))
        for sheet in answers.sheets
        if not problems.is_personal or sheet.student.id in asked
    )
    there = {result.student.id for result in results}
    students = (variant.student for variant in problems.variants)
    return Marked(
        problems=problems,
        answers=answers,
        results=results,
        absent=tuple(one for one in students if one is not None and one.id not in there),
    )


def problems_asked(problems: ProblemSet) -> Mapping[str, tuple[Problem, ...]]:
    """Return the problems by the id of the student, or by "" where they are everyone's.

    Where a slot has the same problem for all it is one object, so that it is marked as one.
    """
    first = problems.variants[0].problems
    return {
        "" if variant.student is None else variant.student.id: tuple(
            before if slot.same and problem == before else problem
            for slot, problem, before in zip(problems.slots, variant.problems, first, strict=True)
        )
        for variant in problems.variants
    }


class Marker:
    """Marks texts, each once for each problem: many of a class type the same."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Found] = {}
        # Kept, so that no other problem takes the number of one that was marked.
        self._problems: dict[int, Problem] = {}

    def marked(self, problem: Problem, text: str) -> Found:
        """Return what `grade` gives."""
        key = id(problem), text
        if key not in self._found:
            self._problems[id(problem)] = problem
            self._found[key] = grade(problem, text)
        return self._found[key]


def _marks(
    problems: ProblemSet,
    sheet: Sheet,
    asked: Mapping[str, tuple[Problem, ...]],
    marker: Marker,
) -> Iterator[Mark]:
    own = asked[sheet.student.id if problems.is_personal else ""]
    for at, (slot, problem) in enumerate(zip(problems.slots, own, strict=True)):
        cell = sheet.cells.get(at)
        yield Mark(
            student=sheet.student,
            slot=slot,
            problem=problem,
            cell=cell,
            found=_found(problem, cell, marker),
        )


def _found(problem: Problem, cell: Cell | None, marker: Marker) -> Found | None:
    return marker.marked(problem, cell.text) if cell is not None and cell.text else None
