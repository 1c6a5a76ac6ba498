"""What the report says of single answers: those to look at, unreadable, given again, not used."""

from collections.abc import Iterator

from quiz.classes.marks import Mark
from quiz.classes.report import Report
from quiz.output.sections import Grid, Row, Section, brief, counted, shown


def yourself(report: Report) -> Iterator[Section]:
    """Yield the part on marks that are not certain."""
    rows = tuple((*_whose(mark), mark.word, mark.doubt) for mark in report.doubtful)
    if rows:
        grid = Grid(
            caption="Answers in words whose label is not certain",
            head=("student", "question", "line", "answer", "marked", "how certain"),
            rows=rows,
            numbers=frozenset({1, 2}),
        )
        yield Section(title="Look at these yourself", grids=(grid,))


def unreadable(report: Report) -> Iterator[Section]:
    """Yield the part on answers that could not be read."""
    rows = tuple((*_whose(mark), mark.said) for mark in report.unreadable)
    if rows:
        grid = Grid(
            caption="Answers that could not be read, and scored 0",
            head=("student", "question", "line", "answer", "why"),
            rows=rows,
            numbers=frozenset({1, 2}),
        )
        yield Section(title="Unreadable answers", grids=(grid,))


def _whose(mark: Mark) -> Row:
    line = "" if mark.cell is None else str(mark.cell.line)
    return mark.student.said, str(mark.slot.number), line, brief(mark.text)


def again(report: Report) -> Iterator[Section]:
    """Yield the part on rows in whose place a later one counts."""
    rows = tuple(
        (str(one.line), brief(one.text), shown(points), one.why) for one, points in report.again
    )
    if rows:
        grid = Grid(
            caption="Rows in whose place a later one counts, and the points that they would have",
            head=("line", "answers", "points", "why"),
            rows=rows,
            numbers=frozenset({0, 2}),
        )
        yield Section(title="Handed in again", grids=(grid,))


def unused(report: Report) -> Iterator[Section]:
    """Yield the part on what of the file is not used."""
    found = report.marked.answers.unused
    if found:
        grid = Grid(
            caption="What of the file is no answer that counts",
            head=("where", "cells", "what stands there", "why"),
            rows=tuple((one.where, str(one.cells), brief(one.text), one.why) for one in found),
            numbers=frozenset({1}),
        )
        says = (f"{counted(sum(one.cells for one in found), 'cell')}.",)
        yield Section(title="Not used", says=says, grids=(grid,))
