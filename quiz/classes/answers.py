"""The answers of a class as they stand in its file, and what of the file was not used."""

from collections.abc import Mapping
from dataclasses import dataclass

from quiz.sets.problem_set import Student


@dataclass(frozen=True, kw_only=True)
class Cell:
    """An answer as it stands in the file.

    Args:
        line: on which its row begins.
        column: the title above it.
        text: without the spaces around it and the apostrophe of a guarded formula.
    """

    line: int
    column: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Unused:
    """Cells that are no answer that counts.

    Args:
        line: of the row; None where they are of a column.
        column: the title above; "" where they are of a row.
        text: what stands there.
        cells: how many they are.
        why: they are not used.
        again: of an answer that was given again, whose it is: student and slot, then the text.
    """

    line: int | None = None
    column: str = ""
    text: str = ""
    cells: int
    why: str
    again: tuple[tuple[str, int, str], ...] = ()

    @property
    def where(self) -> str:
        """The place: "line 7", "column Section", "line 7, Q3"."""
        row = [] if self.line is None else [f"line {self.line}"]
        column = [f"column {self.column}" if self.line is None else self.column]
        return ", ".join([*row, *(column if self.column else [])])


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What one student handed in: cells by the place of their slot, from 0 on."""

    student: Student
    cells: Mapping[int, Cell]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A file of answers, read.

    Args:
        how: what its columns were taken for, in a sentence.
        notes: what else is to be known of how it was read.
        rows: below the header, without those that have no text.
        cells: of these rows, without ids, names and what names a question.
        sheets: in the order of the key, or by id where anybody may answer.
        unused: together with the cells of the sheets they are all cells.
    """

    how: str
    notes: tuple[str, ...]
    rows: int
    cells: int
    sheets: tuple[Sheet, ...]
    unused: tuple[Unused, ...]
