"""What the report says of keys: what moved since another one, what would be another today."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from quiz.classes.moved import Moved
from quiz.classes.report import PERCENT, Report
from quiz.output.sections import Grid, Section, brief, counted, named, shown, signed


def notes(report: Report) -> Iterator[Section]:
    """Yield the part on mistakes of the key that are right within its tolerance."""
    if report.key_notes:
        grid = Grid(
            caption="Mistakes whose number earns all of the credit",
            head=("question", "what"),
            rows=tuple((one.where, one.what) for one in report.key_notes),
        )
        says = (
            "The key is marked by as it stands. Take such a mistake out, or change its number.",
        )
        yield Section(title="Notes on the key", says=says, grids=(grid,))


def regraded(report: Report) -> Iterator[Section]:
    """Yield the part on who moved, by how much and in which question."""
    if report.regraded is None:
        return
    moved, unknown = report.regraded.movers, report.regraded.unknown
    says = [f"{counted(len(moved), 'student')} of {len(report.marked.results)} moved."]
    if others := report.regraded.of_another_total:
        has = "has" if others == 1 else "have"
        says.append(f"{counted(others, 'student')} {has} the same points, of another total.")
    if unknown:
        says.append(f"Not in the key before: {named([one.said for one in unknown])}.")
    grids = (_students(moved), _answers(moved)) if moved else ()
    yield Section(title="Since the key before", says=tuple(says), grids=grids)


def _students(moved: Sequence[Moved]) -> Grid:
    rows = tuple(
        (
            one.student.said,
            _of(one.before),
            _of(one.now),
            signed(one.by),
            signed(one.by_share * PERCENT),
        )
        for one in moved
    )
    return Grid(
        caption="Students who moved",
        head=("student", "before", "now", "by", "percent by"),
        rows=rows,
        numbers=frozenset({1, 2, 3, 4}),
    )


def _answers(moved: Sequence[Moved]) -> Grid:
    rows = tuple(
        (
            one.student.said,
            str(move.number),
            brief(move.text),
            _earned(move.before, move.words[0]),
            _earned(move.now, move.words[1]),
            signed(move.by),
        )
        for one in moved
        for move in one.moves
        if move.by
    )
    return Grid(
        caption="Answers that moved",
        head=("student", "question", "answer", "before", "now", "by"),
        rows=rows,
        numbers=frozenset({1, 3, 4, 5}),
    )


def _of(points: tuple[Fraction, Fraction]) -> str:
    return f"{shown(points[0])} of {shown(points[1])}"


def _earned(points: Fraction | None, word: str) -> str:
    return word if points is None else f"{shown(points)}, {word}"


def today(report: Report) -> Iterator[Section]:
    """Yield the part on what the same kinds and seeds give today."""
    found = report.today
    if found is None:
        return
    says = (
        f"The key is of memquiz {found.made_by} and marks by what it holds; "
        f"this is {found.version}."
    )
    if not found.differs:
        same = f"{counted(found.problems, 'problem')} made anew: nothing differs."
        yield Section(title="The key and today", says=(says, same))
        return
    grid = Grid(
        caption="Problems that would be others today",
        head=("question", "kind", "what differs", "whose"),
        rows=tuple(
            (str(one.slot.number), one.slot.kind, one.what, named(one.whose))
            for one in found.differs
        ),
        numbers=frozenset({0}),
    )
    yield Section(title="The key and today", says=(says,), grids=(grid,))
