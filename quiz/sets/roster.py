"""A class: the students of a CSV file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.errors import Fault, InputError
from engine.fields import show
from quiz.output.plain import visible
from quiz.sets.csv_table import Table, read_table
from quiz.sets.problem_set import Student

# How the two columns are called, in small letters.
IDS = ("id", "student", "student id", "studentid", "user", "username", "login", "sis id", "email")
NAMES = ("name", "student name", "full name", "display name")
LONGEST = 100
MOST = 2_000


def read_roster(path: Path) -> tuple[Student, ...]:
    """Read a roster: a column of ids, and one of names where there is one.

    Args:
        path: a CSV file with a header; or without one, a line for each student's id.

    Raises:
        InputError: the file cannot be read, or listing every line that is no student.
    """
    table = read_table(path, "roster")
    ids, names = _columns(table)
    students = tuple(_students(table.rows, ids, names))
    if faults := [*_one_name(str(path), table), *_faults(str(path), table, students)]:
        raise InputError(*faults)
    return students


def _columns(table: Table) -> tuple[int, int | None]:
    """Return the place of the ids and of the names; what the header does not say is the first."""
    header = [*map(_plain, table.header)]
    at = next((header.index(title) for title in IDS if title in header), 0)
    named = next((header.index(title) for title in NAMES if title in header), None)
    return at, named


def _plain(title: str) -> str:
    return title.strip().lower().replace("_", " ")


def _students(rows: Sequence[Sequence[str]], ids: int, names: int | None) -> Iterator[Student]:
    for row in rows:
        name = "" if names is None or names >= len(row) else " ".join(row[names].split())
        yield Student(id=row[ids].strip() if ids < len(row) else "", name=visible(name))


def _one_name(where: str, table: Table) -> Iterator[Fault]:
    """Yield names of columns that say whose a row is, and stand there more than once."""
    titles = Counter(map(_plain, table.header))
    for title in (*IDS, *NAMES):
        if titles[title] > 1:
            what = f"{titles[title]} columns are called {show(title)}"
            yield Fault(f"{where}, header", what, "leave all but one out")


def _faults(where: str, table: Table, students: Sequence[Student]) -> Iterator[Fault]:
    if not students:
        yield Fault(where, "has no student", "write a line `id,name`, then one for each")
    if len(students) > MOST:
        yield Fault(where, f"{len(students):,} students are more than {MOST:,}", "split it")
    for line, student in zip(table.lines, students, strict=True):
        if not student.id:
            yield Fault(f"{where}, line {line}", "has no id", "give each student one")
        elif len(student.id) > LONGEST or visible(student.id) != student.id:
            what = (
                f"{show(student.id)} is no id: at most {LONGEST} characters, all of them printed"
            )
            yield Fault(f"{where}, line {line}", what)
    for one, times in Counter(student.id for student in students).items():
        if one and times > 1:
            yield Fault(where, f"{show(one)} stands there {times} times", "give each an id")
