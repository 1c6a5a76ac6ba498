"""A CSV file as people and spreadsheets write it: read with every row, none dropped silently."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Fault, InputError
from engine.fields import text_of
from engine.units import MIB

LARGEST = 64 * MIB
SEPARATORS = ",;\t"
SEEN = 10


@dataclass(frozen=True, kw_only=True)
class Table:
    """The cells of a file.

    Args:
        header: the first row.
        rows: the others, as long as they are; those without any text are left out.
        lines: the line of the file on which each row begins.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]


def read_table(path: Path, kind: str) -> Table:
    """Read a CSV file with commas, semicolons or tabs, and quoted cells of several lines.

    Args:
        path: the file: UTF-8, with or without a byte order mark, or UTF-16 with one.
        kind: what should have been named: "roster".

    Raises:
        InputError: the file cannot be read, is no text, or a quote is never closed.
    """
    text = text_of(path, kind, largest=LARGEST)
    rows = [*_rows(text, str(path))]
    if not rows:
        raise InputError(Fault(str(path), "is empty", f"name a {kind} with a header"))
    (_, header), *rest = rows
    return Table(
        header=header, rows=tuple(row for _, row in rest), lines=tuple(line for line, _ in rest)
    )


def separator_of(text: str) -> str:
    """Return what stands most often between the cells of the first line, outside of quotes."""
    line = "".join(part for at, part in enumerate(text.split('"')) if at % 2 == 0)
    first = next((one for one in line.splitlines() if one.strip()), "")
    return max(SEPARATORS, key=first.count)


def _rows(text: str, where: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True)
    begins = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield begins, tuple(row)
            begins = reader.line_num + 1
    except csv.Error as error:
        what = f"cannot be read as CSV: {error}"
        next_ = "close each quote, and double those inside of one"
        raise InputError(Fault(f"{where}, line {begins}", what, next_)) from None
