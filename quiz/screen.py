"""A console on stdout that is as wide as a line reads well, and plain where it must be."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

WIDEST = 100
NARROWEST = 40


def open_console() -> Console:
    """Return a console on stdout, without colour in a pipe, under NO_COLOR and where dumb."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    console.width = max(min(console.width, WIDEST), NARROWEST)
    return console


def paragraph(console: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    """Print `text` wrapped at words, every line `indent` columns from the left."""
    for line in text.splitlines():
        wrapped = Text(line, style=style).wrap(console, console.width - indent)
        for piece in wrapped:
            piece.rstrip()
            piece.pad_left(indent)
            console.print(piece, no_wrap=True, overflow="ignore", crop=False)


def columns(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads, aligned; numbers to the right, the last column cut to fit."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    numbers = [all(_is_number(row[i]) for row in rows) for i in range(len(heads))]
    for style, row in (("bold", heads), *(("", row) for row in rows)):
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        line = Text("  ".join(cells).rstrip(), style=style)
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() and cell.rstrip("TGMKB ").replace(",", "").replace(".", "").isdigit()
