"""A document as a page that needs nothing else, not even a script, and as Markdown."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, singledispatch

from jinja2 import Environment

from quiz.interview import charts
from quiz.interview.document import (
    Commands,
    Document,
    Exhibit,
    Figure,
    Grid,
    Points,
    Say,
    Section,
    Space,
    Typed,
)
from quiz.output.markdown import escaped, in_a_cell
from quiz.output.pages import environment
from quiz.output.plain import visible
from quiz.release import VERSION

# Between a number and its unit no line ends on a page.
UNITED = re.compile(r"(?<=\d) (?=(?:[kKMGT]i?B|bytes?|s|min)\b)")


def html(document: Document) -> str:
    """Return the page. Whatever was typed is escaped in it."""
    return (
        _environment()
        .get_template("interview.html.jinja")
        .render(document=document, draw=charts.drawing, bar=charts.BAR, version=VERSION)
    )


def markdown(document: Document) -> str:
    """Return the document in Markdown. Whatever was typed is escaped in it."""
    return "\n".join([f"# {_line(document.title)}", *_top(document), *_below(document), ""])


def _top(document: Document) -> Iterator[str]:
    yield ""
    yield from (f"- **{_line(name)}**: {_line(said)}" for name, said in document.about)
    if document.command:
        yield f"- **the same again**: {code(document.command)}"


def _below(document: Document) -> Iterator[str]:
    for section in document.sections:
        yield from _section(section, "##")
    yield f"\n{_line(document.foot)} memquiz {VERSION}."


def _section(section: Section, marks: str) -> Iterator[str]:
    yield f"\n{marks} {_line(section.title)}"
    for block in section.blocks:
        yield from _block(block)
    for inner in section.sections:
        yield from _section(inner, f"{marks}#")


@singledispatch
def _block(block: object) -> Iterator[str]:
    raise TypeError(f"{type(block).__name__} is no block")


@_block.register
def _(block: Say) -> Iterator[str]:
    for line in block.text.splitlines():
        yield f"\n**{_line(line)}**" if block.strong else f"\n{_line(line)}"


@_block.register
def _(block: Points) -> Iterator[str]:
    yield f"\n{_line(block.caption)}:\n"
    for number, item in enumerate(block.items, 1):
        yield f"{f'{number}.' if block.ordered else '-'} {_line(item)}"


@_block.register
def _(block: Grid) -> Iterator[str]:
    yield f"\n{_line(block.caption)}:\n"
    yield _row(block.head)
    yield _row(["---:" if at in block.numbers else "---" for at in range(len(block.head))])
    yield from (_row([_cell(cell) for cell in row]) for row in block.rows)


@_block.register
def _(block: Typed) -> Iterator[str]:
    yield f"\n{_line(block.caption)}:\n"
    # The two spaces keep each line on a line.
    yield from (f"> {_line(line)}  " for line in block.lines)


@_block.register
def _(block: Exhibit) -> Iterator[str]:
    yield f"\n{_line(block.caption)}:\n"
    yield _fenced(block.text)


@_block.register
def _(block: Commands) -> Iterator[str]:
    yield ""
    yield from (f"- {code(command)}: {_line(why)}" for command, why in block.rows)


@_block.register
def _(block: Space) -> Iterator[str]:
    yield f"\n{_fenced(chr(10) * (block.lines - 1))}"


@_block.register
def _(block: Figure) -> Iterator[str]:
    yield f"\n{_line(block.chart.title)}:\n"
    yield _fenced(charts.text(block.chart))
    yield f"\n{_line(block.chart.spoken)}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return in_a_cell("\n".join(visible(line) for line in text.splitlines()))


def _line(text: str) -> str:
    """Return plain text as Markdown in one line."""
    return escaped(visible(" ".join(text.splitlines())))


def code(text: str) -> str:
    """Return text in one line as code, whatever backticks are in it."""
    text = visible(text)
    fence = _fence(text, least=1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _fenced(text: str) -> str:
    fence = _fence(text, least=3)
    return "\n".join([f"{fence}text", *(visible(line) for line in text.split("\n")), fence])


def _fence(text: str, *, least: int) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(longest + 1, least)


def _united(text: str) -> str:
    return UNITED.sub("\N{NO-BREAK SPACE}", text)


@cache
def _environment() -> Environment:
    own = environment().overlay()
    own.filters = own.filters | {"visible": visible, "united": _united}
    return own
