"""An explanation on a console: lines with their formulas, then paper, then who asks about it."""

from collections.abc import Iterator

from rich.console import Console

from engine.every_line import KnownLine
from quiz.explain.explanation import Explanation
from quiz.output.screen import paragraph, whole_lines

MOST_FORMS, MOST_RUNS = 3, 2


def show(console: Console, one: Explanation) -> None:
    """Print an explanation."""
    if one.sort != "line":  # which has a heading of its own
        paragraph(console, f"{one.name} · {one.sort}", style="bold")
    for indent, said in _about(one):
        if said.startswith("memquiz "):  # to be copied
            whole_lines(console, " " * indent + said)
        else:
            paragraph(console, said, indent=indent, hanging=2)
    for line in one.lines:
        _show_line(console, line)
    for indent, said in _around(one):
        paragraph(console, said, indent=indent, hanging=2)


def _about(one: Explanation) -> Iterator[tuple[int, str]]:
    """Yield (indent, text) of what stands above the lines."""
    yield from ((2, said) for said in one.says)
    for name, before, after in one.changed:
        yield 4, f"{name}: {_bare(before)} → {_bare(after)}"
    yield from ((2, f"source: {source}") for source in one.sources)


def _around(one: Explanation) -> Iterator[tuple[int, str]]:
    """Yield (indent, text) of what stands below the lines."""
    if one.symbols:
        yield 0, "; ".join(f"{symbol}: {meaning}" for symbol, meaning in one.symbols.items())
    for paper in one.on_paper:
        yield 0, f"on paper, in {paper.problem}:"
        yield from ((2, step) for step in paper.steps)
    if one.kinds:
        yield 0, f"asked by: {', '.join(one.kinds)}"


def _show_line(console: Console, line: KnownLine) -> None:
    paragraph(console, f"{line.name} · {line.category.replace('_', ' ')}", style="bold")
    for text in _said(line):
        paragraph(console, text, indent=2, hanging=2)


def _said(line: KnownLine) -> Iterator[str]:
    yield line.why
    for form, runs in line.forms[:MOST_FORMS]:
        named = ", ".join(runs[:MOST_RUNS]) + ", …" * (len(runs) > MOST_RUNS)
        yield f"{_bare(form)} bytes" + (f" ({named})" if len(line.forms) > 1 else "")
    if more := max(len(line.forms) - MOST_FORMS, 0):
        yield f"{more} more in other runs: docs/model.md"
    yield f"alive in {line.phases}"
    for how, sources in line.known:
        yield f"{how}: {'; '.join(sources)}"


def _bare(form: str) -> str:
    return form.replace("`", "") or "none"
