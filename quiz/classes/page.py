"""The report on a class as a page: Markdown, and HTML that needs nothing else."""

from collections.abc import Iterator

from quiz.classes.report import Report
from quiz.classes.sections import sections
from quiz.output.markdown import escaped, in_a_cell
from quiz.output.pages import environment
from quiz.output.sections import Grid
from quiz.release import VERSION


def markdown(report: Report) -> str:
    """Return the report in Markdown."""
    return "\n".join([f"# {escaped(report.marked.problems.title)}", *_blocks(report), ""])


def html(report: Report) -> str:
    """Return the report as a page. What students typed is escaped in it."""
    return (
        environment()
        .get_template("classes.html.jinja")
        .render(
            title=report.marked.problems.title,
            sections=sections(report),
            version=VERSION,
        )
    )


def _blocks(report: Report) -> Iterator[str]:
    for section in sections(report):
        yield f"\n## {escaped(section.title)}"
        yield from (f"\n{escaped(said)}" for said in section.says)
        yield from (f"\n{_table(grid)}" for grid in section.grids)


def _table(grid: Grid) -> str:
    places = range(len(grid.head))
    rows = [
        [in_a_cell(cell) for cell in grid.head],
        ["---:" if at in grid.numbers else "---" for at in places],
        *([in_a_cell(cell) for cell in row] for row in grid.rows),
    ]
    return "\n".join([f"{escaped(grid.caption)}:\n", *(f"| {' | '.join(row)} |" for row in rows)])
