"""A console on stdout that is as wide as a line reads well, and plain where it must be."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from quiz.output.started import typed_here

WIDEST = 100
NARROWEST = 16
# Of a table's last column: with fewer, it stands below the others.
FEWEST = 16
GAP = "  "
# Below this a label stands above what it labels.
NARROW = 40
# Columns of a label.
LABEL = 15
VERDICTS = {"yes": "green", "tight": "yellow", "no": "red"}


def open_console() -> Console:
    """Return a console on stdout, without colour in a pipe, under NO_COLOR and where dumb."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    console.width = max(min(console.width, WIDEST), NARROWEST)
    return console


def paragraph(
    console: Console, text: str, *, style: str = "", indent: int = 0, hanging: int = 0
) -> None:
    """Print `text` wrapped at words, `indent` columns from the left.

    What a line goes on with stands `hanging` columns further to the right.
    """
    for line in typed_here(text).splitlines():
        for place, piece in enumerate(_wrapped(console, line, indent, hanging)):
            piece.stylize(style)
            piece.pad_left(indent + (hanging if place else 0))
            _print(console, piece)


def whole_lines(console: Console, text: str, *, style: str = "") -> None:
    """Print `text` unwrapped, so that a command in it can be copied."""
    for line in typed_here(text).splitlines():
        _print(console, Text(line, style=style))


def labelled(console: Console, rows: Sequence[tuple[str, str, str]]) -> None:
    """Print (label, text, style) rows, the texts wrapped beside their labels."""
    for name, said, style in rows:
        if console.width < NARROW:
            paragraph(console, f"{name}: {said}", style=style, hanging=2)
            continue
        lines = Text(typed_here(said), style=style).wrap(console, console.width - LABEL)
        for place, line in enumerate(lines):
            line.rstrip()
            console.print(Text(f"{'' if place else name:<{LABEL}}", style=style) + line)


def columns(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads, aligned, numbers to the right.

    A terminal gets the last column wrapped, or below the others where little room is left for it;
    a file or a pipe gets each row in one line.
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    numbers = [all(_is_number(row[i]) for row in rows) for i in range(len(heads))]
    before = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    room = console.width - before
    for style, row in (("bold", heads), *(("", row) for row in rows)):
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        ]
        line = GAP.join(cells).rstrip()
        if not console.is_terminal or len(line) <= console.width:
            _print(console, Text(line, style=style))
        elif room >= FEWEST:
            first, *more = _wrapped(console, row[-1], before, 0)
            _print(console, Text(f"{GAP.join(cells[:-1])}{GAP}{first}", style=style))
            for piece in more:
                _print(console, Text(f"{' ' * before}{piece}", style=style))
        else:
            paragraph(console, GAP.join(row), style=style, hanging=len(GAP))


def _wrapped(console: Console, line: str, indent: int, hanging: int) -> list[Text]:
    """Return the pieces of `line` for the columns behind `indent`, later ones `hanging` fewer."""
    width = max(console.width - indent, 1)
    first, *more = [*Text(line).wrap(console, width)] or [Text("")]
    if more and hanging:
        rest = line[len(first.plain) :].lstrip()
        more = [*Text(rest).wrap(console, max(width - hanging, 1))]
    for piece in (first, *more):
        piece.rstrip()
    return [first, *more]


def _print(console: Console, line: Text) -> None:
    console.print(line, no_wrap=True, overflow="ignore", crop=False)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() and cell.rstrip("TGMKB ").replace(",", "").replace(".", "").isdigit()
