"""What stands on a page of an interview, whatever it is written as: sections made of blocks.

All of it is plain text. Whoever writes it escapes it.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from quiz.interview.charts import Chart


@dataclass(frozen=True, kw_only=True)
class Say:
    """A paragraph; what is `strong` is what a reader wants first."""

    form: ClassVar[str] = "say"

    text: str
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class Points:
    """A list under its caption."""

    form: ClassVar[str] = "points"

    caption: str
    items: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table; `numbers` are the columns that are aligned to the right."""

    form: ClassVar[str] = "grid"

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Typed:
    """Lines as a person typed or says them."""

    form: ClassVar[str] = "typed"

    caption: str
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """Text whose columns matter."""

    form: ClassVar[str] = "exhibit"

    caption: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Commands:
    """Commands to type, each with why."""

    form: ClassVar[str] = "commands"

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Space:
    """Room to write in, so many lines."""

    form: ClassVar[str] = "space"

    lines: int


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart."""

    form: ClassVar[str] = "figure"

    chart: Chart


Block = Say | Points | Grid | Typed | Exhibit | Commands | Space | Figure


@dataclass(frozen=True, kw_only=True)
class Section:
    """Blocks under a title, and sections within it."""

    title: str
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    """A whole page.

    Args:
        about: what stands below the title: names and what is said of them.
        command: what gives the same interview again; "" where the reader has no use for it.
    """

    title: str
    about: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    command: str = ""
    foot: str = field(default="GB is 10^9 bytes, GiB is 2^30 bytes.")
