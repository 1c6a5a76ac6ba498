"""A console on stdout that is as wide as a line reads well, and plain where it must be."""

import re
import sys
from collections.abc import Sequence
from typing import Literal, final

from rich.console import Console, ConsoleDimensions
from rich.text import Text

from quiz.output.plain import plainly_asked, spelled
from quiz.output.started import typed_here

WIDEST = 100
NARROWEST = 16
# Of a table's last column: with fewer, it stands below the others.
FEWEST = 16
GAP = "  "
# Below this a label stands above what it labels.
NARROW = 40
# Between what stands in columns.
GAPS = re.compile(r" {2,}")
# Columns of a label.
LABEL = 15
# Behind it a style's background is named.
GROUND = " on "
# A colour of its own on a background of its own: a terminal may be light or dark.
RIGHT, HALF, WRONG = "black on green", "black on yellow", "bright_white on red"
VERDICTS = {"yes": RIGHT, "tight": HALF, "no": WRONG}


@final
class Screen(Console):
    """A console on stdout that is no wider than a line reads well, whatever size it changes to.

    Args:
        plain: whether everything is told in ASCII, a thing a line, for a voice to read.
    """

    def __init__(self, *, plain: bool) -> None:
        colours: Literal["auto"] | None = None if plain else "auto"
        super().__init__(
            file=sys.stdout, highlight=False, markup=False, emoji=False, color_system=colours
        )
        self.plain = plain

    @property
    def size(self) -> ConsoleDimensions:
        """Columns and rows as they are now."""
        width, height = super().size
        return ConsoleDimensions(max(min(width, WIDEST), NARROWEST), height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        """Take a size that stays."""
        self._width, self._height = new_size


def open_console() -> Console:
    """Return a console on stdout, without colour in a pipe, under NO_COLOR and where dumb."""
    return Screen(plain=plainly_asked())


def is_plain(console: Console) -> bool:
    """Say whether everything is to be told in words, one thing a line."""
    return isinstance(console, Screen) and console.plain


def paragraph(
    console: Console, text: str, *, style: str = "", indent: int = 0, hanging: int = 0
) -> None:
    """Print `text` wrapped at words, `indent` columns from the left.

    What a line goes on with stands `hanging` columns further to the right. A style with a
    background ends behind the first colon. A plain console gets each line unwrapped.
    """
    for line in typed_here(text).splitlines():
        if is_plain(console):
            _print(console, Text(GAPS.sub(", ", spelled(line).strip())))
            continue
        for place, piece in enumerate(_wrapped(console, line, indent, hanging)):
            _stylize(piece, style, first=not place)
            piece.pad_left(indent + (hanging if place else 0))
            _print(console, piece)


def whole_lines(console: Console, text: str, *, style: str = "") -> None:
    """Print `text` unwrapped, so that a command in it can be copied."""
    for line in typed_here(text).splitlines():
        plain = is_plain(console)
        _print(console, Text(spelled(line).strip() if plain else line, style=style))


def labelled(console: Console, rows: Sequence[tuple[str, str, str]]) -> None:
    """Print (label, text, style) rows, the texts wrapped beside their labels."""
    for name, said, style in rows:
        if is_plain(console) or console.width < NARROW:
            paragraph(console, f"{name.strip()}: {said}", style=_without_ground(style), hanging=2)
            continue
        lines = Text(typed_here(said)).wrap(console, console.width - LABEL)
        for place, line in enumerate(lines):
            line.rstrip()
            _stylize(line, style, first=not place)
            label = Text(f"{'' if place else name:<{LABEL}}", style=_without_ground(style))
            console.print(label + line)


def _stylize(line: Text, style: str, *, first: bool) -> None:
    """Style a line, with a background only as far as the colon of the first one."""
    if GROUND not in style:
        line.stylize(style)
    elif first:
        line.stylize(style, 0, line.plain.find(":"))


def _without_ground(style: str) -> str:
    return "" if GROUND in style else style


def columns(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads, aligned, numbers to the right.

    A terminal gets the last column wrapped, or below the others where little room is left for it;
    a file or a pipe gets each row in one line.
    """
    if is_plain(console):
        _sentences(console, heads, rows)
        return
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    numbers = [all(_is_number(row[i]) or not row[i] for row in rows) for i in range(len(heads))]
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


def _sentences(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each row as a line of what its cells are under their heads."""
    for row in rows:
        cells = zip(heads, row, strict=True)
        paragraph(console, "; ".join(f"{h}: {c}".removeprefix(": ") for h, c in cells if c))


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
