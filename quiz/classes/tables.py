"""The marks as two tables in CSV: a row an answer, and a row a student."""

import csv
import io
from collections.abc import Iterable, Sequence

from quiz.classes.guard import guarded
from quiz.classes.marks import Mark, Marked, Result
from quiz.classes.report import percent
from quiz.output.sections import shown

ANSWERS = (
    "student", "question", "problem", "answer", "read as", "score", "points", "verdict",
    "mistake", "feedback",
)  # fmt: skip
STUDENTS = ("student", "name", "points", "of", "percent")
# Excel takes a file without it for the code page of the machine.
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def answers_csv(marked: Marked) -> bytes:
    """Return a row for each student and question."""
    return _written(ANSWERS, (_answer(mark) for mark in marked.all()))


def students_csv(marked: Marked) -> bytes:
    """Return a row for each student, those who handed in nothing without points."""
    numbers = tuple(str(slot.number) for slot in marked.problems.slots)
    handed_in = [_student(result) for result in marked.results]
    absent = [
        [one.id, one.name, "", shown(marked.problems.points), "", *("" for _ in numbers)]
        for one in marked.absent
    ]
    return _written((*STUDENTS, *numbers), [*handed_in, *absent])


def _answer(mark: Mark) -> list[str]:
    verdict = mark.verdict
    return [
        mark.student.id,
        str(mark.slot.number),
        mark.problem.id,
        mark.text,
        "" if verdict is None else verdict.reading,
        shown(mark.score),
        shown(mark.points),
        mark.word,
        (verdict.mistake if verdict else "") or "",
        mark.said,
    ]


def _student(result: Result) -> list[str]:
    share = percent(result.share)
    return [
        result.student.id,
        result.student.name,
        shown(result.points),
        shown(result.of),
        "" if share is None else shown(share),
        *(shown(mark.points) for mark in result.marks),
    ]


def _written(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return (MARK + file.getvalue()).encode()
