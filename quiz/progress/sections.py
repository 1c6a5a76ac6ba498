"""A report as sections of sentences, pictures and tables, for a page."""

from collections.abc import Iterator

from quiz.output.sections import Grid, Section
from quiz.progress import plots, words
from quiz.progress.mistakes import Mistake
from quiz.progress.report import Report

MOST_DRAWN = 6


def sections(report: Report) -> tuple[Section, ...]:
    """Return the parts of the report, in order; of an empty history only what there is to say."""
    of_answers = (_skill, _due, _days, _ranges, _mistakes, _efforts)
    writers = (
        *(of_answers if report.topics else ()),
        *((_interviews,) if report.interviews else ()),
    )
    return (
        Section(title="So far", says=(words.opening(report),)),
        *(section for write in writers for section in write(report)),
    )


def _skill(report: Report) -> Iterator[Section]:
    met = tuple(one for one in report.topics if one.estimate is not None)
    levels = Grid(
        caption="Level and share of the credit by topic",
        head=("topic", "level", "questions", "last 20", "20 before", "asked last", "due"),
        rows=tuple(
            (
                words.title(one.topic),
                words.level(one.estimate),
                f"{one.share.questions:,}",
                words.percent(one.share.lately),
                words.percent(one.share.before),
                words.day_of(one.last, report),
                f"{one.due:,}",
            )
            for one in report.topics
        ),
        numbers=frozenset({2, 3, 4, 6}),
    )
    weekly = Grid(
        caption="Level at the end of each week: 0 is junior, 1 mid, 2 senior",
        head=("week of", *(words.title(one.topic) for one in met)),
        rows=tuple(
            (words.dated(week), *(words.number(one.then[at]) for one in met))
            for at, week in enumerate(report.weeks)
        ),
        numbers=frozenset(range(1, len(met) + 1)),
    )
    figures = (plots.skill(met, report.weeks),) if met else ()
    grids = (levels, weekly) if met else (levels,)
    yield Section(
        title="Skill by topic", says=tuple(words.skill(report)), figures=figures, grids=grids
    )


def _due(report: Report) -> Iterator[Section]:
    grids = []
    if report.due.days:
        grids.append(
            Grid(
                caption="What falls due next",
                head=("day", "concepts"),
                rows=tuple(
                    (words.when(day, report.days.today), f"{number:,}")
                    for day, number in report.due.days
                ),
                numbers=frozenset({1}),
            )
        )
    says = [*words.due(report), *([words.TAKE] if report.due.now else [])]
    yield Section(title="Due", says=tuple(says), grids=tuple(grids))


def _days(report: Report) -> Iterator[Section]:
    weeks = report.days.weeks(len(report.weeks))
    yield Section(
        title="Days",
        says=(words.streak(report.days),),
        figures=(plots.activity(weeks),),
        grids=(words.calendar(weeks),),
    )


def _ranges(report: Report) -> Iterator[Section]:
    found = report.ranges
    says = tuple(words.ranges(found))
    if not found.groups:
        yield Section(title="Ranges", says=says)
        return
    grid = Grid(
        caption="Ranges that held the answer, ten by ten",
        head=("from", "to", "held", "typed", "share"),
        rows=tuple(
            (
                words.day_of(one.first, report),
                words.day_of(one.last, report),
                str(one.held),
                str(one.typed),
                words.percent(one.share),
            )
            for one in found.groups
        ),
        numbers=frozenset({2, 3, 4}),
    )
    figure = plots.calibration(found.groups, says[0])
    yield Section(title="Ranges", says=says, figures=(figure,), grids=(grid,))


def _mistakes(report: Report) -> Iterator[Section]:
    says = tuple(words.mistakes(report))
    if not report.mistakes:
        yield Section(title="Mistakes", says=says)
        return
    drawn = report.mistakes[:MOST_DRAWN]
    weekly = Grid(
        caption="How often the first of them were made, week by week",
        head=("week of", *(one.name for one in drawn)),
        rows=tuple(
            (words.dated(week), *(str(one.weeks[at]) for one in drawn))
            for at, week in enumerate(report.weeks)
        ),
        numbers=frozenset(range(1, len(drawn) + 1)),
    )
    yield Section(
        title="Mistakes",
        says=says,
        figures=(plots.trend(drawn, report.weeks),),
        grids=(
            Grid(
                caption="Mistakes, of the answers that could tell them",
                head=(
                    "mistake",
                    "times",
                    "last 30 days",
                    "30 before",
                    "last made",
                    "",
                    "practise",
                ),
                rows=tuple(_row(one, report) for one in report.mistakes),
                numbers=frozenset({1}),
            ),
            weekly,
        ),
    )


def _row(one: Mistake, report: Report) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.times:,}",
        words.made(one.recent),
        words.made(one.before),
        words.day_of(one.last, report),
        words.standing(one),
        words.practise(one),
    )


def _efforts(report: Report) -> Iterator[Section]:
    if report.efforts:
        yield Section(
            title="Time and hints", says=(words.MEDIAN,), grids=(words.efforts(report.efforts),)
        )


def _interviews(report: Report) -> Iterator[Section]:
    yield Section(title="Interviews", grids=(words.interviews(report),))
