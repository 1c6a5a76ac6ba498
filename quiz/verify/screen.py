"""The answer of `memquiz verify` for a reader: the phases, the timeline, the peak, the verdict."""

from rich.console import Console
from rich.text import Text

from engine.units import decimal
from engine.verify.verification import Row
from quiz.output.bar_text import bar_text, key
from quiz.output.bars import LETTERS, scaled, stacked, told
from quiz.output.scenario_words import described, headline
from quiz.output.screen import (
    LABEL,
    NARROW,
    VERDICTS,
    is_plain,
    labelled,
    paragraph,
    whole_lines,
)
from quiz.verify.report import Formula, Report
from quiz.verify.strips import Strip
from quiz.verify.words import (
    alike,
    excess,
    first_step,
    how,
    left_out,
    micro_batches,
    no_room,
    percent,
    question,
    rest,
    signed,
    the_peak,
    totals,
)

NUMBER = 12
PERCENT = 10
# Columns of a size behind a bar.
SIZE = 10
PEAK = " peak"
# Columns of the table of phases.
TABLE = LABEL + 3 * NUMBER + PERCENT + len(PEAK)


def show(console: Console, report: Report) -> None:
    """Print what was predicted and measured, what is alive at the peak, and the verdict."""
    paragraph(console, headline(report.scenario), style="bold")
    paragraph(console, described(report.scenario))
    paragraph(console, how(report))
    for part in (_phases, _question, _timeline, _alive, _gap, _formulas, _end, _totals):
        part(console, report)


def _phases(console: Console, report: Report) -> None:
    found = report.of
    console.print()
    if console.width >= TABLE and not is_plain(console):
        heads = "".join(f"{head:>{NUMBER}}" for head in ("predicted", "measured", "difference"))
        whole_lines(console, f"{'steady step':<{LABEL}}{heads}", style="bold")
    for row in found.steady:
        _phase(console, row, mark=PEAK if row.phase is found.peak.phase else "")
    rows = [("first step", first_step(report), "")]
    if found.left_out:
        rows.append(("left out here", left_out(report), ""))
    labelled(console, rows)


def _phase(console: Console, row: Row, *, mark: str) -> None:
    numbers = decimal(row.predicted), decimal(row.measured), signed(row.difference)
    if console.width < TABLE or is_plain(console):
        said = "predicted {}, measured {}, {}".format(*numbers)
        paragraph(console, f"{row.phase}: {said} = {percent(row)}{mark}", hanging=2)
        return
    columns = "".join(f"{number:>{NUMBER}}" for number in numbers)
    whole_lines(console, f"{row.phase!s:<{LABEL}}{columns}{percent(row):>{PERCENT}}{mark}")


def _question(console: Console, report: Report) -> None:
    """Print what was asked, if the scenario is that of a question."""
    if report.question is not None:
        console.print()
        labelled(console, [(*row, "") for row in question(report)])


def _timeline(console: Console, report: Report) -> None:
    """Print the steady step from top to bottom, a bar for the highest moment of each part."""
    console.print()
    paragraph(console, "live memory of the steady step, from beginning to end", style="bold")
    beside = 0 if console.width < NARROW else LABEL + SIZE + len(PEAK) + 1
    width = console.width - 1 - beside
    scale, limit = scaled(report.of.peak.measured, report.capacity, width)
    heading = label = ""
    for strip in report.strips:
        batches = micro_batches(report, strip.stretch)
        if batches != heading:
            heading, label = batches, ""
            paragraph(console, heading, style="dim")
        if is_plain(console):
            _strip_told(console, strip, report)
            continue
        bar = bar_text(stacked(strip.sample.categories, scale, width), limit, width)
        shown = "" if strip.stretch.label == label else strip.stretch.label
        _strip(console, strip, Text(f"{shown:<{LABEL}}"), bar, report)
        label = strip.stretch.label
    if is_plain(console):
        return
    used = {name for strip in report.strips for name in strip.sample.categories}
    paragraph(console, key([name for name in LETTERS if name in used]))
    end = "" if limit is None else ", | the card's end"
    paragraph(console, f"full width {decimal(scale)}{end}", style="dim")


def _strip_told(console: Console, strip: Strip, report: Report) -> None:
    """Print what a bar shows as a line."""
    moment = strip.sample.moment
    peak = ", the peak" if moment.events == report.of.moment.events else ""
    said = told(strip.sample.categories)
    paragraph(console, f"{strip.stretch.label}: {decimal(moment.size)}{peak}: {said}")


def _strip(console: Console, strip: Strip, label: Text, bar: Text, report: Report) -> None:
    moment = strip.sample.moment
    size = f"{decimal(moment.size):>{SIZE}}"
    mark = Text(PEAK if moment.events == report.of.moment.events else "", style="bold")
    if console.width < NARROW:
        paragraph(console, f"{label.plain.strip()} {size.strip()}{mark.plain}".strip())
        console.print(bar)
    else:
        console.print(label + bar + size + mark)


def _alive(console: Console, report: Report) -> None:
    console.print()
    labelled(console, [(*row, "") for row in the_peak(report)])
    console.print()
    paragraph(console, "alive at the peak, like with like, largest first", style="bold")
    for group in report.shown:
        size, what, where = alike(group)
        labelled(console, [(f"{size:>{SIZE}}", f"{what}, {where}", "")])
    paragraph(console, rest(report), style="dim")


def _gap(console: Console, report: Report) -> None:
    console.print()
    paragraph(console, excess(report), style="bold")
    for part in report.of.gap:
        if part.size:
            row = f"{signed(part.size):>{SIZE}}", f"{part.name}: {part.why}", ""
            labelled(console, [row])


def _formulas(console: Console, report: Report) -> None:
    for formula in report.formulas or ():
        console.print()
        paragraph(console, f"{formula.phase}, bytes over b and s", style="bold")
        _formula(console, formula)


def _formula(console: Console, formula: Formula) -> None:
    parts = [(f"{part.size}: {part.name}; {part.why}") for part in formula.leftovers]
    labelled(
        console,
        [
            ("traced", formula.traced, ""),
            ("the ledger", formula.predicted, ""),
            *(("leftover", part, "dim") for part in parts),
            ("difference", formula.difference, "bold"),
        ],
    )


def _end(console: Console, report: Report) -> None:
    """Print where the run ends, if it does not fit."""
    if report.of.no_room is not None:
        console.print()
        labelled(console, [(*row, "") for row in no_room(report, report.of.no_room)])


def _totals(console: Console, report: Report) -> None:
    console.print()
    paragraph(console, "allocated, reserved and nvidia-smi are three numbers", style="bold")
    *rows, verdict = totals(report)
    labelled(console, [(*row, "") for row in rows])
    labelled(console, [(*verdict, VERDICTS[report.of.fits])])
