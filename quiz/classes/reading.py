"""Reads a file of answers: every cell is an answer that counts, or is listed as not used."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from engine.errors import Fault, InputError
from engine.fields import show
from quiz.classes.answers import Answers, Cell, Sheet, Unused
from quiz.classes.header import Header, header_of
from quiz.classes.naming import Names, compared
from quiz.classes.rows import SHIFTED, Row, Rows
from quiz.sets.csv_table import Table, read_table
from quiz.sets.problem_set import ProblemSet, Student

SEPARATED = {",": "commas", ";": "semicolons", "\t": "tabs"}


def read_answers(path: Path, problems: ProblemSet) -> Answers:
    """Read the answers of a class: a row a student, or a row an answer.

    Of a row that was handed in again the last one counts, and the others are listed.

    Raises:
        InputError: the file cannot be read, has no row, or its header names no question.
    """
    table = read_table(path, "file of answers")
    names = Names(problems)
    header = header_of(table, names, str(path))
    if not table.rows:
        raise InputError(Fault(str(path), "has no row below its header", "name the answers"))
    rows = Rows(table, header, names)
    found = [*rows.read()]
    kept = [row for row in found if isinstance(row, Row)]
    counted = _last(kept)
    unused = [
        *(row for row in found if isinstance(row, Unused)),
        *(_again(row, counted[row.whose]) for row in kept if counted[row.whose] is not row),
        *(one for row in counted.values() for one in row.unused),
        *_columns(table, header, [row.line for row in counted.values()]),
    ]
    return Answers(
        how=header.how,
        notes=tuple(_notes(table, header, counted.values())),
        rows=len(table.rows),
        cells=sum(map(rows.size, table.rows)),
        sheets=tuple(_sheets(counted.values(), problems)),
        unused=tuple(sorted(unused, key=lambda one: (one.line or 0, one.column))),
    )


def _last(rows: Iterable[Row]) -> Mapping[tuple[str, tuple[int, ...]], Row]:
    """Return the rows that count, each by whose it is."""
    return {row.whose: row for row in rows}


def _again(row: Row, counts: Row) -> Unused:
    """Return a row in whose place a later one counts."""
    same = all(counts.cells[slot].text == cell.text for slot, cell in row.cells.items())
    why = f"{row.student.said} again in line {counts.line}, which counts"
    return Unused(
        line=row.line,
        text=row.text,
        cells=row.size,
        why=why + (" and says the same" if same else ""),
        again=tuple((row.student.id, slot, cell.text) for slot, cell in row.cells.items()),
    )


def _columns(table: Table, header: Header, counted: Sequence[int]) -> Iterator[Unused]:
    """Yield the columns that are no answers, with how many of the rows that count have text."""
    rows = dict(zip(table.lines, table.rows, strict=True))
    for at, why in header.unused:
        texts = sum(at < len(rows[line]) and bool(rows[line][at].strip()) for line in counted)
        title = table.header[at].strip() or f"{at + 1}, without a title"
        told = f"{why}; {texts} of {len(counted)} rows have text there"
        if counted:
            yield Unused(column=title, cells=len(counted), why=told)


def _sheets(rows: Iterable[Row], problems: ProblemSet) -> Iterator[Sheet]:
    """Yield what each student handed in, in the order of the key, or by id."""
    students, cells = dict[str, Student](), defaultdict[str, dict[int, Cell]](dict)
    for row in rows:
        before = students.get(row.student.id)
        students[row.student.id] = before if before and before.name else row.student
        cells[row.student.id] |= row.cells
    order = [variant.student.id for variant in problems.variants if variant.student is not None]
    for id_ in order or sorted(students):
        if id_ in students:
            yield Sheet(student=students[id_], cells=dict(sorted(cells[id_].items())))


def _notes(table: Table, header: Header, counted: Iterable[Row]) -> Iterator[str]:
    yield f"{SEPARATED.get(table.separator, repr(table.separator))} between the cells"
    if table.blank:
        yield f"rows without any text, left out: {table.blank}"
    short = sum(len(row) < len(table.header) for row in table.rows)
    if short:
        yield f"rows shorter than the header, which lack empty cells: {short}"
    width = len(table.header)
    if long := sum(any(cell.strip() for cell in row[width:]) for row in table.rows):
        yield f"rows longer than the header: {long}; {SHIFTED}"
    yield from _one_name(table, header)
    ids = dict.fromkeys(row.student.id for row in counted)
    for same, times in Counter(map(compared, ids)).items():
        if times > 1:
            alike = " and ".join(id_ for id_ in ids if compared(id_) == same)
            yield f"{alike} are {times} students: their ids differ in case alone"


def _one_name(table: Table, header: Header) -> Iterator[str]:
    """Yield which of several columns with one name is read, where one is."""
    places = defaultdict[str, list[int]](list)
    for at, title in enumerate(table.header):
        places[compared(title)].append(at)
    for title, same in places.items():
        read = [at + 1 for at in same if at in header.identity | {header.answer}]
        if title and len(same) > 1 and read:
            said = " and ".join(str(at + 1) for at in same)
            of = ", ".join(map(str, read))
            yield f"columns {said} are called {show(table.header[same[0]])}; read: {of}"
