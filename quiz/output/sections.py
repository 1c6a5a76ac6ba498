"""Sections of sentences, pictures and tables, which any page can show, and numbers in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from quiz.output.figures import Figure

Row = tuple[str, ...]
NAMES_SHOWN = 12
TYPED_SHOWN = 80


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table: a caption, titles and rows; `numbers` are the columns with numbers."""

    caption: str
    head: Row
    rows: tuple[Row, ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report. What its pictures show stands in its tables too."""

    title: str
    says: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    figures: tuple[Figure, ...] = ()


def brief(text: str) -> str:
    """Return what was typed, cut where it is long: the table of answers has all of it."""
    return text if len(text) <= TYPED_SHOWN else f"{text[: TYPED_SHOWN - 1]}…"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 student", "1,200 students"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def shown(number: Fraction | float) -> str:
    """Return a number as a table shows it, to four digits behind the point at most."""
    text = f"{float(number):.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def signed(number: Fraction) -> str:
    """Return a number with its sign."""
    return f"+{shown(number)}" if number > 0 else shown(number)


def named(names: Sequence[str]) -> str:
    """Return names with commas between, and how many more there are."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more
