"""A report on a console of 80 columns; letters and numbers say all that bars and colours do."""

from collections.abc import Iterator

from rich.console import Console

from quiz.output.screen import columns, is_plain, paragraph, whole_lines
from quiz.progress import words
from quiz.progress.days import local
from quiz.progress.levels import HIGHEST, LOWEST, Estimate
from quiz.progress.mistakes import Mistake
from quiz.progress.report import Report

# Columns of a bar, and the levels above it, each centred where it is on the scale.
BAR = 13
SCALE = " jun mid sen "
WEEKS = 6
MOST = 6


def show(console: Console, report: Report) -> None:
    """Print a report; of an empty history the one thing to do."""
    paragraph(console, words.opening(report))
    of_answers = (
        ("Skill by topic", _skill),
        ("Due", _due),
        ("Days", _days),
        ("Ranges", _ranges),
        ("Mistakes", _mistakes),
        ("Time and hints", _efforts),
    )
    parts = (
        *(of_answers if report.topics else ()),
        *((("Interviews", _interviews),) if report.interviews else ()),
    )
    for head, part in parts:
        console.print()
        paragraph(console, head, style="bold")
        part(console, report)


def bar(found: Estimate) -> str:
    """Return a level from junior to senior as a bar: where it may lie, and where it likely is.

    The middle column is mid, junior and senior are a third of the columns away from it.
    """
    low, at, high = (_column(value) for value in (found.low, found.at, found.high))
    return "".join(
        "■" if place == at else "─" if low <= place <= high else "·" for place in range(BAR)
    )


def _column(level: float) -> int:
    share = (level - LOWEST) / (HIGHEST - LOWEST)
    return round(min(max(share, 0.0), 1.0) * (BAR - 1))


def _skill(console: Console, report: Report) -> None:
    rows: list[tuple[str, ...]] = [
        (
            words.title(one.topic),
            bar(one.estimate),
            words.level(one.estimate),
            f"{one.share.questions:,}",
            words.percent(one.share.lately),
            words.percent(one.share.before),
        )
        for one in report.topics
        if one.estimate is not None
    ]
    heads: tuple[str, ...] = ("topic", SCALE, "level", "asked", "last 20", "before")
    if is_plain(console):  # the level's words say what its bar does
        heads, rows = _without_bar(heads), list(map(_without_bar, rows))
    if rows:
        columns(console, heads, rows)
    for said in words.skill(report):
        paragraph(console, said)


def _without_bar(row: tuple[str, ...]) -> tuple[str, ...]:
    return row[:1] + row[2:]


def _due(console: Console, report: Report) -> None:
    for said in words.due(report):
        paragraph(console, said)
    if report.due.now:
        whole_lines(console, words.DUE_COMMAND)


def _days(console: Console, report: Report) -> None:
    paragraph(console, words.streak(report.days))
    grid = words.calendar(report.days.weeks(WEEKS))
    columns(console, grid.head, grid.rows)


def _ranges(console: Console, report: Report) -> None:
    for said in words.ranges(report.ranges):
        paragraph(console, said)


def _mistakes(console: Console, report: Report) -> None:
    for said in words.mistakes(report):
        paragraph(console, said)
    for one in [one for one in report.mistakes if not one.overcome][:MOST]:
        paragraph(console, f"{one.name}, {one.times:,} time{'s' * (one.times != 1)}")
        for said in _about(one, report):
            paragraph(console, said, indent=4)
        if one.kind is not None:
            whole_lines(console, f"    {words.practise(one)}")


def _about(one: Mistake, report: Report) -> Iterator[str]:
    recent, before = words.made(one.recent), words.made(one.before)
    last = words.when(local(one.last, report.zone), report.days.today)
    yield f"last 30 days: {recent}; 30 before: {before}; last made {last}"
    if one.since:
        yield words.standing(one)


def _efforts(console: Console, report: Report) -> None:
    if report.efforts:
        grid = words.efforts(report.efforts)
        columns(console, grid.head, grid.rows)
        paragraph(console, words.MEDIAN)
    else:
        paragraph(console, "No answer was typed yet.")


def _interviews(console: Console, report: Report) -> None:
    grid = words.interviews(report)
    columns(console, grid.head, grid.rows)
