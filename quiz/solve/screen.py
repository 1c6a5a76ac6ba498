"""The answer of `memquiz solve` for a reader: the ledger, the bars, the peak and the verdict."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text
from sympy import Integer, Max

from engine.ledger import OUTSIDE, Category, Ledger, Line, Phase
from engine.room import Room
from engine.scenario import Workload
from engine.symbols import MEANINGS
from engine.units import GB, GIB, MB, MIB, both, decimal
from problems.answers.numbers import rounded
from quiz.output.bar_text import bar_text, key
from quiz.output.bars import by_category, chart, told, used
from quiz.output.scenario_words import described, headline, interval
from quiz.output.screen import (
    LABEL,
    NARROW,
    VERDICTS,
    is_plain,
    labelled,
    paragraph,
    whole_lines,
)
from quiz.solve.report import Solved

NUMBER = 10
CATEGORY = 16
ROOMY = 72


def show(console: Console, solved: Solved) -> None:
    """Print everything that is known of the step's memory."""
    paragraph(console, headline(solved.scenario), style="bold")
    paragraph(console, described(solved.scenario))
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


def _ledger(console: Console, ledger: Ledger) -> None:
    """Print the lines, largest first, each with its reason beneath."""
    if is_plain(console):
        _ledger_told(console, ledger)
        return
    small = ledger.peak < GB
    units = ((MB, "MB"), (MIB, "MiB")) if small else ((GB, "GB"), (GIB, "GiB"))
    head = "".join(f"{name:>{NUMBER}}" for _, name in units)
    whole_lines(console, head.rjust(console.width), style="bold")
    for line, size in _rows(ledger):
        numbers = "".join(_number(size, one) for one, _ in units)
        _line(console, line, numbers, "*" if _at_peak(line, ledger) else " ")
    paragraph(console, f"* alive at the peak, {ledger.peak_phase}")


def _rows(ledger: Ledger) -> list[tuple[Line, int]]:
    """Return the lines that have bytes, largest first."""
    rows = zip(ledger.lines, ledger.sizes, strict=True)
    return sorted((row for row in rows if row[1]), key=lambda row: -row[1])


def _ledger_told(console: Console, ledger: Ledger) -> None:
    """Print each line as a sentence."""
    for line, size in _rows(ledger):
        kind = str(line.category).replace("_", " ")
        alive = "alive at the peak; " if _at_peak(line, ledger) else ""
        paragraph(console, f"{line.name}: {both(size)}; {kind}; {alive}{line.why}")


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


def _bars_told(console: Console, solved: Solved) -> None:
    """Print what the bars show as a line a phase."""
    for phase, size in solved.exact.phases.items():
        mark = ", the peak" if phase is solved.exact.peak_phase else ""
        said = told(by_category(solved.exact, phase))
        paragraph(console, f"{phase}: {decimal(size)}{mark}: {said}")


def _bars(console: Console, solved: Solved) -> None:
    if is_plain(console):
        _bars_told(console, solved)
        return
    narrow = console.width < NARROW
    width = console.width - 1 if narrow else console.width - LABEL - NUMBER - 8
    drawn = chart(solved.exact, solved.capacity, width)
    for bar in drawn.bars:
        label, size = f"{bar.phase!s:<{LABEL}}", f"{decimal(bar.size):>{NUMBER}}"
        peak = Text(" peak" if bar.phase is solved.exact.peak_phase else "", style="bold")
        if narrow:
            paragraph(console, f"{bar.phase} {size.strip()}{peak}")
            console.print(bar_text(bar.pieces, drawn.limit, width))
        else:
            console.print(Text(label) + bar_text(bar.pieces, drawn.limit, width) + size + peak)
    paragraph(console, key(used(solved.exact)))
    seen = "" if drawn.limit is None else ", | the card's end"
    paragraph(console, f"full width {decimal(drawn.scale)}{seen}", style="dim")


def _totals(console: Console, solved: Solved) -> None:
    exact = solved.exact
    rows = [
        ("allocated", f"{both(exact.peak)}, the peak, in {exact.peak_phase}", "bold"),
        *_stages(solved),
        ("on paper", _paper(solved), ""),
        ("reserved", interval(exact.reserved), ""),
        ("nvidia-smi", interval(exact.nvidia_smi), ""),
        ("card", f"{both(solved.capacity)}, as its driver reports", ""),
        *_room(solved),
        ("fits", verdict(solved), VERDICTS[solved.fits]),
    ]
    labelled(console, rows)


def _room(solved: Solved) -> Iterator[tuple[str, str, str]]:
    """Yield what the card, or the share that may be taken of it, has room for in inference."""
    found, work = solved.room, solved.scenario.workload
    if found is None:
        return
    if solved.share < solved.capacity:
        yield "share", f"{both(solved.share)} of it may be taken", ""
    yield "cache", _cache(solved, found), ""
    yield "room", _at_once(found, work.sequence), ""
    yield "length", _length(found, work), ""


def _cache(solved: Solved, found: Room) -> str:
    """Return how many tokens the cache has, and at which size of a token they are counted."""
    if not found.pool:
        return f"none: {_taken(solved)}"
    tokens = f"{found.tokens:,} tokens of {found.per_token:,} bytes"
    unfilled = ", while no window is full" if found.windowed else ""
    return f"{both(found.pool)} beside all else: {tokens}{unfilled}"


def _taken(solved: Solved) -> str:
    """Return what leaves no room for a cache."""
    exact, where = solved.exact, "share" if solved.share < solved.capacity else "card"
    weights, cache = exact.total(Category.WEIGHTS), exact.total(Category.KV_CACHE)
    if weights > solved.share:
        return f"the weights alone, {both(weights)}, are more than the {where}"
    rest = exact.nvidia_smi[1] - cache
    if rest >= solved.share:
        return f"weights and all else, {both(rest)} at the upper estimate, fill the {where}"
    return f"beside weights and all else the {where} has no room for one sequence"


def _at_once(found: Room, length: int) -> str:
    """Return how many sequences fit, with the size of one where windows make it smaller."""
    said = f"{_sequences(found.sequences)} of {length:,} tokens at once"
    if not found.windowed or found.window == length:
        return said
    layers = f"{found.windowed} layer{'' if found.windowed == 1 else 's'}"
    return (
        f"{said}, of {decimal(found.per_sequence)} each: {layers} with a window keep "
        f"{found.window:,} of the tokens"
    )


def _length(found: Room, work: Workload) -> str:
    """Return how long sequences may be, and whether longer ones are asked for than there are."""
    model = ", the model's longest" if found.longest == found.limit > 0 else ""
    asked = f"; {work.sequence:,} are asked for" if model and work.sequence > found.limit else ""
    return f"{found.longest:,} tokens{model}, of {_sequences(work.micro_batch)} at once{asked}"


def _sequences(number: int) -> str:
    return f"{number:,} sequence{'' if number == 1 else 's'}"


def _stages(solved: Solved) -> Iterator[tuple[str, str, str]]:
    """Yield what a rank of each stage of a pipeline has, where there is one."""
    if len(solved.stages) > 1:
        peaks = [f"{book.stage.name} {decimal(book.peak)}" for book in solved.stages]
        number = solved.scenario.parallel.pipeline
        yield "stages", f"{', '.join(peaks)}: a rank of {number}; the fullest is shown", ""


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
