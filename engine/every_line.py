"""Every line that the ledger can have: its formulas over the example runs, and how it is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from sympy import Add, Basic, Expr, Integer, Max, Symbol

from engine.example_runs import shown
from engine.ledger import ALL_PHASES, Category, Line

# Characters of the longest formula that a reader wants.
LONGEST = 100


@dataclass(frozen=True, kw_only=True)
class KnownLine:
    """A line of the ledger, over all runs that have it.

    Args:
        why: where its bytes come from, a sentence.
        forms: (formula, the runs that have it) in bytes over the symbols of `engine.symbols`.
        phases: when it is alive.
        known: (evidence, sources).
    """

    name: str
    category: Category
    why: str
    forms: tuple[tuple[str, tuple[str, ...]], ...]
    phases: str
    known: tuple[tuple[str, tuple[str, ...]], ...]


@cache
def every_line() -> Mapping[tuple[Category, str], KnownLine]:
    """Return every line by category and name, in the order in which runs have them."""
    names = dict.fromkeys(key for found in shown().values() for key in found)
    return {
        key: known_line({run: found[key] for run, found in shown().items() if key in found})
        for key in names
    }


def known_line(having: Mapping[str, Line]) -> KnownLine:
    """Return a line as the runs have it that are given by name."""
    first = next(iter(having.values()))
    forms: dict[str, list[str]] = {}
    known: dict[str, dict[str, None]] = {}
    for run, line in having.items():
        forms.setdefault(_size(line), []).append(run)
        known.setdefault(str(line.evidence), {})[line.source] = None
    return KnownLine(
        name=first.name,
        category=first.category,
        why=f"{first.why[0].upper()}{first.why[1:]}.",
        forms=tuple((form, tuple(runs)) for form, runs in forms.items()),
        phases=_phases(having.values()),
        known=tuple((how, tuple(sources)) for how, sources in known.items()),
    )


def _size(line: Line) -> str:
    low = "" if line.low is None else f"{formula(line.low)} to "
    return f"{low}{formula(line.size)}"


@cache
def formula(size: Expr) -> str:
    """Return a size as it is written; a long one is told by its terms."""
    if isinstance(size, Integer):
        return f"{int(size):,}"
    # Writing the long ones would take longer than all else that is asked about a line.
    if _fewest(size) <= LONGEST and len(text := str(size)) <= LONGEST:
        return f"`{text}`"
    over = ", ".join(sorted(f"`{symbol}`" for symbol in size.free_symbols))
    kind = "the largest of {} sums" if isinstance(size, Max) else "a sum of {} terms"
    return f"{kind.format(len(size.args))} over {over}"


@cache
def _fewest(size: Basic) -> int:
    """Return characters that sympy writes `size` in at least: symbols, and what parts terms."""
    if isinstance(size, Symbol):
        return len(size.name)
    between = len(" + ") if isinstance(size, Add) else len(", ") if isinstance(size, Max) else 0
    return sum(map(_fewest, size.args)) + between * (len(size.args) - 1)


def _phases(having: Iterable[Line]) -> str:
    said = dict.fromkeys(
        "every phase" if line.phases == ALL_PHASES else ", ".join(line.phases) for line in having
    )
    return "; or in ".join(said)
