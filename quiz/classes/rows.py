"""Rows of a file of answers: whose each is, and what it answers; or why it is not used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import near
from engine.fields import show
from quiz.classes.answers import Cell, Unused
from quiz.classes.guard import unguarded
from quiz.classes.header import Header
from quiz.classes.naming import Named, Names
from quiz.sets.csv_table import Table
from quiz.sets.problem_set import Student

# What programs and people write below the answers, in small letters.
TOTALS = frozenset(
    {"total", "totals", "sum", "mean", "average", "median", "maximum", "minimum", "max", "min"}
    | {"count", "overall average", "class average", "points possible", "possible points"}
    | {"standard deviation", "std dev", "full marks"}
)
JOINED = " | "
SHIFTED = "shifted? quote cells with separators inside"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row that is somebody's.

    Args:
        line: on which it begins.
        student: whose it is.
        cells: by the place of their slot.
        unused: what of it is not used.
        text: all that stands in it.
        size: all cells of it that are counted.
    """

    line: int
    student: Student
    cells: Mapping[int, Cell]
    unused: tuple[Unused, ...]
    text: str
    size: int

    @property
    def whose(self) -> tuple[str, tuple[int, ...]]:
        """The same for rows of which one counts: student and slots."""
        return self.student.id, tuple(self.cells)


@dataclass(frozen=True)
class Rows:
    """The rows of a file."""

    table: Table
    header: Header
    names: Names

    def read(self) -> Iterator[Row | Unused]:
        """Yield every row, or what stands there where it is nobody's."""
        for line, row in zip(self.table.lines, self.table.rows, strict=True):
            student = self._student(row)
            yield (
                self._unused(line, row, student)
                if isinstance(student, str)
                else self._row(line, row, student)
            )

    def size(self, row: Sequence[str]) -> int:
        """Return the cells of a row: those under the header, and those beyond that have text."""
        under = len(self.table.header) - len(self.header.identity)
        return under + len(self._beyond(row))

    def _unused(self, line: int, row: Sequence[str], why: str) -> Unused:
        """Return a whole row as one that is not used."""
        return Unused(line=line, text=_joined(row), cells=self.size(row), why=why)

    def _beyond(self, row: Sequence[str]) -> list[str]:
        return [cell.strip() for cell in row[len(self.table.header) :] if cell.strip()]

    def _student(self, row: Sequence[str]) -> Student | str:
        """Return whose a row is, or why it is nobody's."""
        if [cell.strip() for cell in row] == [cell.strip() for cell in self.table.header]:
            return "the header again"
        id_ = _typed(row, self.header.student)
        name = " ".join(" ".join(_cell(row, at) for at in self.header.names).split())
        known = self.names.student(id_)
        if known is not None:
            return known
        if {id_.strip(" :").casefold(), row[0].strip(" :").casefold()} & TOTALS:
            return "a row of totals"
        if not id_:
            return "nobody's: the id is empty"
        if self.names.problems.is_personal:
            hint = near(id_, [*self.names.ids])
            return f"{show(id_)} is not in the key" + (f"; {hint}" if hint else "")
        return Student(id=id_, name=unguarded(name))

    def _row(self, line: int, row: Sequence[str], student: Student) -> Row | Unused:
        if self.header.form == "long":
            return self._long(line, row, student)
        cells, unused = dict[int, Cell](), list[Unused]()
        for column in self.header.columns:
            text = _typed(row, column.at)
            if self._asked(student, column.named):
                cells[column.named.slot] = Cell(line=line, column=column.title, text=text)
            else:
                why = f"{column.named.problem} is not asked of {student.id}"
                unused.append(Unused(line=line, column=column.title, text=text, cells=1, why=why))
        unused += self._rest(line, row)
        return self._kept(line, row, student, cells, unused)

    def _long(self, line: int, row: Sequence[str], student: Student) -> Row | Unused:
        asked = _typed(row, self.header.question)
        named = self.names.named(asked)
        if isinstance(named, str):
            return self._unused(line, row, named or f"{show(asked)} names no question")
        if not self._asked(student, named):
            return self._unused(line, row, f"{named.problem} is not asked of {student.id}")
        title = self.table.header[self.header.answer].strip()
        text = _typed(row, self.header.answer)
        cells = {named.slot: Cell(line=line, column=title, text=text)}
        return self._kept(line, row, student, cells, [*self._rest(line, row)])

    def _kept(
        self,
        line: int,
        row: Sequence[str],
        student: Student,
        cells: Mapping[int, Cell],
        unused: Sequence[Unused],
    ) -> Row:
        return Row(
            line=line,
            student=student,
            cells=cells,
            unused=tuple(unused),
            text=_joined(row),
            size=self.size(row),
        )

    def _asked(self, student: Student, named: Named) -> bool:
        """Say whether a question that was named by its problem is one of the student's."""
        return named.problem in {"", self.names.asked(student)[named.slot]}

    def _rest(self, line: int, row: Sequence[str]) -> Iterator[Unused]:
        """Yield the cells beyond the header."""
        beyond = self._beyond(row)
        if beyond:
            text, why = JOINED.join(beyond), f"stands beyond the last title; {SHIFTED}"
            yield Unused(line=line, text=text, cells=len(beyond), why=why)


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""


def _joined(row: Sequence[str]) -> str:
    return JOINED.join(cell.strip() for cell in row if cell.strip())


def _typed(row: Sequence[str], at: int) -> str:
    return unguarded(_cell(row, at)).strip()
