"""Sheets to be read: one a variant, without solutions and with them, in files named by student."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Protocol

from problems.answers.numbers import counted
from quiz.formats.format import Files
from quiz.formats.numbers import plain
from quiz.formats.questions import Question, question_of
from quiz.sets.problem_set import ProblemSet, Variant

SHEETS, SOLUTIONS = PurePosixPath("sheets"), PurePosixPath("solutions")
EVERYONE = "everyone"
# Windows takes these for devices, whatever stands behind a dot.
DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}
)

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
    return tuple(_told_apart(plain))


def _told_apart(plain: Sequence[str]) -> Iterator[str]:
    """Yield names that differ in more than capitals: who comes first has the plain one."""
    taken = set[str]()
    for name in plain:
        names = chain((name,), (f"{name}-{number}" for number in count(2)))
        free = next(
            one
            for one in names
            if one.lower() not in taken and one.split(".")[0].upper() not in DEVICES
        )
        taken.add(free.lower())
        yield free
