"""Sheets to be read: one a variant, without solutions and with them, in files named by student."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Protocol

from problems.answers.numbers import counted
from quiz.formats.format import Files
from quiz.formats.numbers import plain
from quiz.formats.questions import Question, question_of
from quiz.sets.problem_set import ProblemSet, Variant

SHEETS, SOLUTIONS = PurePosixPath("sheets"), PurePosixPath("solutions")
EVERYONE = "everyone"

Questions = tuple[Question, ...]


class Write(Protocol):
    """Writes one sheet, without solutions or with them."""

    def __call__(
        self, problems: ProblemSet, variant: Variant, questions: Questions, *, solved: bool
    ) -> bytes:
        """Return the file."""
        ...


def sheets(problems: ProblemSet, suffix: str, write: Write) -> Files:
    """Return each variant's file without solutions in `sheets`, and with them in `solutions`."""
    files = {}
    for name, variant in zip(file_names(problems), problems.variants, strict=True):
        questions = questions_of(problems, variant)
        for folder in (SHEETS, SOLUTIONS):
            data = write(problems, variant, questions, solved=folder == SOLUTIONS)
            files[folder / f"{name}{suffix}"] = data
    return files


def questions_of(problems: ProblemSet, variant: Variant) -> Questions:
    """Return the questions of a sheet, in order."""
    return tuple(
        question_of(slot, variant, problem)
        for slot, problem in zip(problems.slots, variant.problems, strict=True)
    )


def size_of(problems: ProblemSet) -> str:
    """Return how much a sheet is: "5 questions, 5 points, about 26 minutes"."""
    number = len(problems.slots)
    return (
        f"{number} {counted(number, 'questions')}, "
        f"{plain(problems.points)} {counted(problems.points, 'points')}, "
        f"about {plain(problems.minutes)} {counted(problems.minutes, 'minutes')}"
    )


def file_names(problems: ProblemSet) -> tuple[str, ...]:
    """Return for each variant a name that every file system takes and that no other one has."""
    ids = [EVERYONE if one.student is None else one.student.id for one in problems.variants]
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", one).strip(".-") or "student" for one in ids]
    times = Counter(name.lower() for name in plain)
    return tuple(_numbered(plain, times))


def _numbered(plain: list[str], times: Counter[str]) -> Iterator[str]:
    for at, name in enumerate(plain, 1):
        yield f"{at:04}-{name}" if times[name.lower()] > 1 else name
