"""A CSV file as people and spreadsheets write it: read with every row, none dropped silently."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import Fault, InputError
from engine.fields import text_of
from engine.units import MIB

LARGEST = 64 * MIB
SEPARATORS = ",;\t"
# A line that spreadsheets put before the header to say what separates: sep=;
SAYS = re.compile(r"\s*\"?sep=([^\w\s\"]|\t)\"?[,;\t]*\r?(\n|\Z)", re.IGNORECASE)
ADVICE = 'save it as "CSV UTF-8", or choose the character set UTF-8 where it is exported'


@dataclass(frozen=True, kw_only=True)
class Table:
    """The cells of a file.

    Args:
        header: the first row.
        rows: the others, as long as they are; those without any text are left out.
        lines: the line of the file on which each row begins.
        separator: what stands between the cells.
        blank: how many rows are left out.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    separator: str = ","
    blank: int = 0


def read_table(path: Path, kind: str) -> Table:
    """Read a CSV file with commas, semicolons or tabs, and quoted cells of several lines.

    Args:
        path: the file: UTF-8, with or without a byte order mark, or UTF-16 with one.
        kind: what should have been named: "roster".

    Raises:
        InputError: the file cannot be read, is no text, or a quote is never closed.
    """
    text, where = _text(path, kind), str(path)
    said = SAYS.match(text)
    separator = said[1] if said else separator_of(text)
    every = [*_rows(text[said.end() :] if said else text, separator, where, 2 if said else 1)]
    rows = [(line, row) for line, row in every if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError(Fault(where, "is empty", f"name a {kind} with a header"))
    (_, header), *rest = rows
    return Table(
        header=header,
        rows=tuple(row for _, row in rest),
        lines=tuple(line for line, _ in rest),
        separator=separator,
        blank=len(every) - len(rows),
    )


def _text(path: Path, kind: str) -> str:
    """Return the text of the file, or say how it is saved so that it can be read."""
    try:
        text = text_of(path, kind, largest=LARGEST)
    except InputError as error:
        told = (one if one.next else replace(one, next=ADVICE) for one in error.faults)
        raise InputError(*told) from None
    if "\0" in text:
        raise InputError(Fault(str(path), "holds characters of number 0: it is no text", ADVICE))
    return text


def separator_of(text: str) -> str:
    """Return what stands most often between the cells of the first line, outside of quotes."""
    line = "".join(part for at, part in enumerate(text.split('"')) if at % 2 == 0)
    first = next((one for one in line.splitlines() if one.strip()), "")
    return max(SEPARATORS, key=first.count)


def _rows(
    text: str, separator: str, where: str, begins: int
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rows, each with the line on which it begins; the first one is that of `text`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    first = begins
    try:
        with _long_cells():
            for row in reader:
                if row:
                    yield begins, tuple(row)
                begins = first + reader.line_num
    except csv.Error as error:
        what = f"cannot be read as CSV: {error}"
        next_ = "close each quote, and double those inside of one"
        raise InputError(Fault(f"{where}, line {begins}", what, next_)) from None


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be as long as a file: what is too long is told of that cell alone."""
    before = csv.field_size_limit(LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
