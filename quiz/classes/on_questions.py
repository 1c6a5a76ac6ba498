"""What the report says of the questions: how each did, which to look at, what went wrong."""

from collections.abc import Iterator
from fractions import Fraction

from problems.problem import TOPICS
from quiz.classes.items import EASY, HARD, Item
from quiz.classes.report import Report
from quiz.output.sections import Grid, Row, Section, shown

# In the report: `results.json` has all of them.
SLIPS_SHOWN = 20
MEANS = (
    "The mean score is from 0 to 1; what is unreadable or not answered scored 0. Item-rest is the "
    "correlation of the score with the points of all other questions; upper-lower the mean score "
    "of the best 27% of the class less that of the last 27%. Both take four students, and say "
    "little of fewer than thirty."
)


def questions(report: Report) -> Iterator[Section]:
    """Yield the part on how each question did."""
    grid = Grid(
        caption="How each question did",
        head=(
            "question", "kind", "topic and level", "points", "correct", "partial", "wrong",
            "unreadable", "not answered", "mean score", "item-rest", "upper-lower",
        ),
        rows=tuple(map(_question, report.items)),
        numbers=frozenset({0, *range(3, 12)}),
    )  # fmt: skip
    yield Section(title="Questions", says=(MEANS,), grids=(grid,))


def _question(item: Item) -> Row:
    words = ("correct", "partial", "wrong", "unreadable", "not answered")
    return (
        str(item.slot.number),
        item.slot.kind,
        f"{TOPICS.get(item.slot.topic, item.slot.topic)}, {item.slot.level}",
        shown(item.slot.points) if item.slot.points else "not counted",
        *(str(item.words[word]) for word in words),
        _two(item.difficulty),
        _two(item.rest),
        _two(item.groups),
    )


def _two(number: Fraction | float | None) -> str:
    return "none" if number is None else f"{float(number):.2f}"


def look_at(report: Report) -> Iterator[Section]:
    """Yield the part on questions that a person should look at."""
    rows = tuple(
        (str(item.slot.number), item.slot.kind, why)
        for item in report.items
        for why in item.concerns
    )
    grid = Grid(
        caption=f"Mean score below {float(HARD):g} or above {float(EASY):g}, or an item-rest "
        "correlation below 0",
        head=("question", "kind", "why"),
        rows=rows,
        numbers=frozenset({0}),
    )
    says = () if rows else ("None.",)
    yield Section(title="Questions to look at", says=says, grids=(grid,) if rows else ())


def mistakes(report: Report) -> Iterator[Section]:
    """Yield the part on the commonest mistakes."""
    every = [(item, slip) for item in report.items for slip in item.slips]
    every.sort(key=lambda row: (-row[1].times, row[0].slot.number, row[1].name))
    if not every:
        return
    rows = tuple(
        (
            str(item.slot.number),
            slip.name,
            str(slip.times),
            f"{float(slip.share):.0%} of {slip.of}",
        )
        for item, slip in every[:SLIPS_SHOWN]
    )
    left = len(every) - len(rows)
    says = (f"{left} less common ones stand in results.json.",) if left else ()
    grid = Grid(
        caption="Named mistakes, the commonest first, with their share of the answers that "
        "could be read",
        head=("question", "mistake", "times", "share"),
        rows=rows,
        numbers=frozenset({0, 2, 3}),
    )
    yield Section(title="The commonest mistakes", says=says, grids=(grid,))
