"""The report as one HTML page that needs nothing else, not even a script."""

from dataclasses import replace

from quiz.output.pages import environment
from quiz.output.sections import Grid, Section
from quiz.output.started import typed_here
from quiz.progress import words
from quiz.progress.report import Report
from quiz.progress.sections import sections
from quiz.release import VERSION


def page(report: Report) -> str:
    """Return the page. What an own kind of question named, such as a mistake, is escaped in it."""
    return (
        environment()
        .get_template("progress.html.jinja")
        .render(
            title=words.heading(report),
            sections=tuple(_to_be_typed(one) for one in sections(report)),
            version=VERSION,
        )
    )


def _to_be_typed(section: Section) -> Section:
    """Return a section whose commands are those that start the program here."""
    return replace(
        section,
        says=tuple(map(typed_here, section.says)),
        grids=tuple(map(_grid, section.grids)),
    )


def _grid(grid: Grid) -> Grid:
    return replace(grid, rows=tuple(tuple(map(typed_here, row)) for row in grid.rows))
