"""The answer of `memquiz solve` for a reader: the ledger, the bars, the peak and the verdict."""

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text
from sympy import Integer, Max

from engine.ledger import OUTSIDE, Category, Ledger, Line, Phase
from engine.symbols import MEANINGS
from engine.units import GB, GIB, MB, MIB, binary, both, decimal
from quiz.bars import LETTERS, Bar, Chart, chart, used
from quiz.reference import rounded
from quiz.screen import paragraph, whole_lines
from quiz.solve_report import Solved

STYLES: Mapping[Category, str] = {
    Category.WEIGHTS: "black on blue",
    Category.MASTER_WEIGHTS: "black on cyan",
    Category.GRADIENTS: "black on yellow",
    Category.OPTIMIZER_STATE: "black on magenta",
    Category.ACTIVATIONS: "black on green",
    Category.LOGITS: "black on red",
    Category.TEMPORARY: "black on white",
    Category.COMMUNICATION: "black on bright_blue",
    Category.KV_CACHE: "black on bright_green",
}
VERDICTS = {"yes": "green", "tight": "yellow", "no": "red"}
NUMBER = 10
LABEL = 15
CATEGORY = 16
ROOMY = 72
# Below this a label stands above what it labels.
NARROW = 40


def show(console: Console, solved: Solved) -> None:
    """Print everything that is known of the step's memory."""
    _title(console, solved)
    console.print()
    _ledger(console, solved.exact)
    console.print()
    _bars(console, solved)
    console.print()
    _totals(console, solved)


def show_formulas(console: Console, solved: Solved) -> None:
    """Print each line, phase and the peak as a formula, and what its symbols mean."""
    exact = solved.exact
    for line in exact.lines:
        _formula(console, line.name, str(line.size))
    console.print()
    for phase in exact.phases:
        _formula(console, str(phase), _sum(exact, phase))
    _formula(console, "peak", f"Max({', '.join(exact.phases)})")
    console.print()
    used_symbols = {symbol for line in exact.lines for symbol in line.size.free_symbols}
    for symbol, value in exact.values.items():
        if symbol in used_symbols:
            _formula(console, f"{symbol} = {value:,}", MEANINGS.get(symbol, ""), sign=":")


def _sum(ledger: Ledger, phase: Phase) -> str:
    """Return a phase as a sum, its lines that are a maximum by name: spelled out, none is read."""
    alive = [
        line for line in ledger.lines if phase in line.phases and line.category not in OUTSIDE
    ]
    named = [line.name for line in alive if line.size.has(Max)]
    rest = sum((line.size for line in alive if not line.size.has(Max)), Integer(0))
    return " + ".join([str(rest), *(f"({name})" for name in named)])


def _formula(console: Console, name: str, formula: str, *, sign: str = " =") -> None:
    paragraph(console, f"{name}{sign} {formula}")


def _title(console: Console, solved: Solved) -> None:
    scenario = solved.scenario
    work, recipe, parallel = scenario.workload, scenario.recipe, scenario.parallel
    parameters = scenario.architecture.parameters
    paragraph(console, f"{scenario.model.title} ({parameters:,} parameters)", style="bold")
    steps = work.gradient_accumulation
    parts = (
        f"{recipe.precision}, {recipe.optimizer}, {recipe.attention} attention",
        f"recompute {recipe.recompute}",
        f"{work.micro_batch} x {work.sequence:,} tokens" + (f" x {steps}" if steps > 1 else ""),
        f"{scenario.hardware.gpus} x {scenario.hardware.gpu.title}",
        f"ZeRO-{parallel.zero}" if parallel.zero else "",
    )
    paragraph(console, " · ".join(part for part in parts if part))


def _ledger(console: Console, ledger: Ledger) -> None:
    """Print the lines, largest first, each with its reason beneath."""
    small = ledger.peak < GB
    units = ((MB, "MB"), (MIB, "MiB")) if small else ((GB, "GB"), (GIB, "GiB"))
    head = "".join(f"{name:>{NUMBER}}" for _, name in units)
    whole_lines(console, head.rjust(console.width), style="bold")
    rows = sorted(zip(ledger.lines, ledger.sizes, strict=True), key=lambda row: -row[1])
    for line, size in rows:
        if size:
            numbers = "".join(_number(size, one) for one, _ in units)
            _line(console, line, numbers, "*" if _at_peak(line, ledger) else " ")
    paragraph(console, f"* alive at the peak, {ledger.peak_phase}")


def _line(console: Console, line: Line, numbers: str, mark: str) -> None:
    """Print a line's name beside its numbers, or above them where little room is left."""
    kinds = CATEGORY if console.width >= ROOMY else 0
    width = console.width - 2 - len(numbers) - kinds
    category = str(line.category).replace("_", " ") if kinds else ""
    if console.width < NARROW:
        paragraph(console, f"{mark} {line.name}", hanging=2)
        whole_lines(console, numbers.rjust(console.width))
    else:
        first, *more = [piece.plain.rstrip() for piece in Text(line.name).wrap(console, width - 1)]
        whole_lines(console, f"{mark} {first:<{width}}{category:<{kinds}}{numbers}")
        for piece in more:
            whole_lines(console, f"    {piece}")
    paragraph(console, line.why, style="dim", indent=4)


def _at_peak(line: Line, ledger: Ledger) -> bool:
    return line.category not in OUTSIDE and ledger.peak_phase in line.phases


def _number(size: int, one: int) -> str:
    number = f"{size / one:,.3f}"
    return f"{number if float(number.replace(',', '')) else '<0.001':>{NUMBER}}"


def _bars(console: Console, solved: Solved) -> None:
    narrow = console.width < NARROW
    width = console.width - 1 if narrow else console.width - LABEL - NUMBER - 8
    drawn = chart(solved.exact, solved.capacity, width)
    for bar in drawn.bars:
        label, size = f"{bar.phase!s:<{LABEL}}", f"{decimal(bar.size):>{NUMBER}}"
        peak = Text(" peak" if bar.phase is solved.exact.peak_phase else "", style="bold")
        if narrow:
            paragraph(console, f"{bar.phase} {size.strip()}{peak}")
            console.print(_bar(bar, drawn, width))
        else:
            console.print(Text(label) + _bar(bar, drawn, width) + size + peak)
    key = "   ".join(f"{LETTERS[c]} {str(c).replace('_', ' ')}" for c in used(solved.exact))
    paragraph(console, key)
    seen = "" if drawn.limit is None else ", | the card's end"
    paragraph(console, f"full width {decimal(drawn.scale)}{seen}", style="dim")


def _bar(bar: Bar, drawn: Chart, width: int) -> Text:
    text = Text()
    filled = 0
    for category, columns in bar.pieces:
        for _ in range(columns):
            at_limit = drawn.limit == filled and drawn.limit < width
            text.append("|" if at_limit else LETTERS[category], STYLES[category])
            filled += 1
    rest = [" "] * (width - filled + 1)
    if drawn.limit is not None and drawn.limit >= filled:
        rest[drawn.limit - filled] = "|"
    text.append("".join(rest))
    return text


def _totals(console: Console, solved: Solved) -> None:
    exact = solved.exact
    rows = [
        ("allocated", f"{both(exact.peak)}, the peak, in {exact.peak_phase}", "bold"),
        ("on paper", _paper(solved), ""),
        ("reserved", _interval(exact.reserved), ""),
        ("nvidia-smi", _interval(exact.nvidia_smi), ""),
        ("card", f"{both(solved.capacity)}, as its driver reports", ""),
        ("fits", verdict(solved), VERDICTS[solved.fits]),
    ]
    for name, said, style in rows:
        if console.width < NARROW:
            paragraph(console, f"{name}: {said}", style=style, hanging=2)
            continue
        lines = Text(said, style=style).wrap(console, console.width - LABEL)
        for place, line in enumerate(lines):
            line.rstrip()
            console.print(Text(f"{'' if place else name:<{LABEL}}", style=style) + line)


def _paper(solved: Solved) -> str:
    """Return the whiteboard's peak as a sum over categories, and how far it is off."""
    paper, exact = solved.paper, solved.exact
    totals = {c: paper.total(c, phase=paper.peak_phase) for c in Category}
    terms = [
        f"{str(c).replace('_', ' ')} {rounded(size / GB, 3)}"
        for c, size in sorted(totals.items(), key=lambda row: -row[1])
        if size
    ]
    off = 100 * (paper.peak - exact.peak) / max(exact.peak, 1)
    return f"{decimal(paper.peak)} = {' + '.join(terms)}; {off:+.1f}% of the exact peak"


def _interval(ends: tuple[int, int]) -> str:
    low, high = ends
    if low == high:
        return both(low)
    return " = ".join(f"{said(low)} to {said(high)}" for said in (decimal, binary))


def verdict(solved: Solved) -> str:
    """Return yes, no or tight, and by how much."""
    allocated, shown = solved.spare
    match solved.fits:
        case "yes":
            return f"yes: {both(shown)} to spare, at the upper estimate"
        case "no":
            return f"no: what is allocated alone is {both(-allocated)} too much"
        case "tight":
            return (
                f"tight: {both(allocated)} beyond what is allocated, {both(-shown)} short at the "
                "upper estimate of what nvidia-smi shows"
            )
