"""The answer of `memquiz levers` for a reader: the levers, the plans, and the best one as bars."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from engine.ledger import Ledger
from engine.levers.assess import Applied, Refused
from engine.levers.change import Change
from engine.levers.changes import brief
from engine.levers.plans import Plan
from engine.levers.ties import TIE
from engine.units import GB, decimal
from quiz.levers.report import Report
from quiz.output.bar_text import bar_text, key
from quiz.output.bars import by_category, chart, told, used
from quiz.output.scenario_words import described, headline
from quiz.output.screen import LABEL, NARROW, columns, is_plain, labelled, paragraph, whole_lines

HEADS = ("", "lever", "saves", "peak", "fits", "step")
NUMBER = 11
VERDICT = 7
TIME = 9
NAME = 26
TOLD = 2
TENFOLD = 10
# Of a step's time; a change of a term below it is not told.
NOTABLE = 0.01


def show(console: Console, report: Report) -> None:
    """Print the levers in their order, the plans, and what the first plan does."""
    paragraph(console, headline(report.scenario), style="bold")
    paragraph(console, described(report.scenario))
    console.print()
    _now(console, report)
    console.print()
    _levers(console, report)
    _refused(console, report.levers.refused)
    console.print()
    _plans(console, report)
    if report.best is not None:
        console.print()
        _bars(console, report.best, report.capacity)


def _now(console: Console, report: Report) -> None:
    before = report.levers.before
    rows = [
        ("allocated", f"{decimal(before.ledger.peak)}, the peak, in {before.ledger.peak_phase}"),
        _room(report),
        ("step", f"{_seconds(before.time.seconds)}, estimated"),
    ]
    labelled(console, [(name, said, "") for name, said in rows])


def _room(report: Report) -> tuple[str, str]:
    fits = report.fits(report.levers.before)
    if report.plans.room == report.capacity:
        return "card", f"{decimal(report.capacity)}; it fits: {fits}"
    said = f"{decimal(report.plans.room)} of the card's {decimal(report.capacity)}"
    return "room", f"{said}; it fits: {fits}"


def _levers(console: Console, report: Report) -> None:
    if not is_plain(console):
        _row(console, HEADS, style="bold")
    for rank, row in enumerate(report.levers.ranked, 1):
        _lever(console, report, str(rank), row)
    for row in report.levers.useless:
        _lever(console, report, "none" if is_plain(console) else "-", row)
    numerics = any(row.lever.changes_numerics for row in _all(report))
    marks = " - saves nothing at the peak." + (" ~ other numerics." * numerics)
    unranked = " Without a rank it saves nothing at the peak."
    paragraph(
        console,
        "In the order in which to pull them: by step time, then, no more than 5 points apart, by "
        f"how little they change.{unranked if is_plain(console) else marks}",
        style="dim",
    )


def _all(report: Report) -> Iterator[Applied]:
    yield from report.levers.ranked
    yield from report.levers.useless


def _lever(console: Console, report: Report, rank: str, row: Applied) -> None:
    change, other = row.change, ", other numerics" if is_plain(console) else " ~"
    numerics = other if row.lever.changes_numerics else ""
    cells = (
        rank,
        row.lever.name + numerics,
        _size(change.saved),
        _size(change.after.ledger.peak),
        report.fits(change.after),
        _percent(change.overhead),
    )
    _row(console, cells)
    paragraph(console, brief(change.before.scenario, change.after.scenario), indent=3, hanging=2)
    paragraph(console, _why(change), style="dim", indent=3, hanging=2)


def _why(change: Change) -> str:
    """Return the categories that change most, and the terms of the step's time that do."""
    categories = sorted(change.categories.items(), key=lambda row: -abs(row[1]))[:TOLD]
    said = [f"{str(category).replace('_', ' ')} {_signed(-size)}" for category, size in categories]
    whole = change.before.time.seconds
    said += [
        f"{name} {100 * seconds / whole:+.1f}%"
        for name, seconds in change.terms[:TOLD]
        if abs(seconds) >= NOTABLE * whole
    ]
    return "; ".join(said)


def _signed(size: int) -> str:
    return f"{'-' if size < 0 else '+'}{decimal(abs(size))}"


def _row(console: Console, cells: tuple[str, ...], style: str = "") -> None:
    if is_plain(console):
        columns(console, ("rank", *HEADS[1:]), [cells])
        return
    rank, name, *numbers = cells
    widths = (NUMBER, NUMBER, VERDICT, TIME)
    if console.width < len("12 ") + NAME + sum(widths):
        paragraph(console, f"{rank:>2} {name}: {', '.join(numbers)}", style=style, hanging=2)
        return
    line = "".join(f" {cell:>{width - 1}}" for cell, width in zip(numbers, widths, strict=True))
    whole_lines(console, f"{rank:>2} {name:<{NAME}}{line}", style=style)


def _refused(console: Console, refused: tuple[Refused, ...]) -> None:
    if refused:
        console.print()
        paragraph(console, "do not apply", style="bold")
    for row in refused:
        paragraph(console, f"{row.lever.name}: {row.why_not}", indent=3, hanging=2)


def _plans(console: Console, report: Report) -> None:
    found = report.plans
    paragraph(
        console,
        f"plans, of {found.tried:,} settings, of which {found.fitting:,} leave nvidia-smi within "
        f"{decimal(found.room)}",
        style="bold",
    )
    if not found.plans:
        fits = f"as it is it fits, and nothing makes it more than {TIE:.0%} faster"
        paragraph(console, fits if found.fitting else "none fits", indent=3)
    for number, plan in enumerate(found.plans, 1):
        _plan(console, report, number, plan)


def _plan(console: Console, report: Report, number: int, plan: Plan) -> None:
    said = (
        f"{number:>2} {' + '.join(plan.levers)}: {decimal(plan.peak)}, {decimal(plan.spare)} to "
        f"spare, step {_percent(plan.overhead)}"
    )
    paragraph(console, said, hanging=3)
    paragraph(console, brief(report.scenario, plan.scenario), style="dim", indent=3, hanging=2)


def _bars(console: Console, best: Change, capacity: int) -> None:
    narrow = console.width < NARROW
    width = console.width - 1 if narrow else console.width - LABEL - NUMBER - 8
    books = (("as it is", best.before.ledger), ("with plan 1", best.after.ledger))
    most = max(book.peak for _, book in books)
    for name, book in books:
        paragraph(console, name, style="bold")
        if is_plain(console):
            _told(console, book)
            continue
        drawn = chart(book, capacity, width, beside=most)
        for bar in drawn.bars:
            label, size = f"{bar.phase!s:<{LABEL}}", f"{decimal(bar.size):>{NUMBER}}"
            peak = " peak" if bar.phase is book.peak_phase else ""
            text = bar_text(bar.pieces, drawn.limit, width)
            if narrow:
                paragraph(console, f"{bar.phase} {size.strip()}{peak}")
                console.print(text)
            else:
                console.print(Text(label) + text + size + Text(peak, style="bold"))
    letters = dict.fromkeys(category for _, book in books for category in used(book))
    if not is_plain(console):
        paragraph(console, key(tuple(letters)))


def _told(console: Console, book: Ledger) -> None:
    """Print what the bars show as a line a phase."""
    for phase, size in book.phases.items():
        peak = ", the peak" if phase is book.peak_phase else ""
        paragraph(console, f"{phase}: {decimal(size)}{peak}: {told(by_category(book, phase))}")


def _size(size: int) -> str:
    """Return bytes in GB, so that a column reads down; small ones in their own unit."""
    return decimal(size) if abs(size) < GB // 100 else f"{size / GB:,.2f} GB"


def _percent(overhead: float) -> str:
    return f"{100 * overhead:+,.1f}%" if abs(overhead) < TENFOLD else f"{100 * overhead:+,.0f}%"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.2f} s" if seconds >= 1 else f"{1e3 * seconds:,.1f} ms"
