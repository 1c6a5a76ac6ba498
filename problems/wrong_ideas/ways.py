"""Ways to get a step wrong: a term of the ledger's totals changed, or the peak as a number."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from engine.ledger import Category, Phase
from problems.amounts import Paper
from problems.peaks import Run
from problems.wrong_ideas.wrong import Wrong


def right(run: Run) -> Wrong:
    """Return the ledger's own phases, in the form of the wrong ones."""
    return Wrong(totals=run.totals, why="")


def at_peak(run: Run, times: Mapping[Category, Fraction | int], why: str) -> Wrong:
    """Return the sum at the moment of the peak, with some of its terms times a factor."""
    return replace(
        at_all(run, times, why), phases=(run.ledger.peak_phase,), moves=frozenset(times)
    )


def at_all(run: Run, times: Mapping[Category, Fraction | int], why: str) -> Wrong:
    """Return all moments, with some of their terms times a factor; the peak may lie elsewhere."""
    changed = {
        phase: {c: int(size * times.get(c, 1)) for c, size in rows.items()}
        for phase, rows in run.totals.items()
    }
    return Wrong(totals=changed, why=why)


def by_paper(run: Run, wrong: Paper, why: str) -> Wrong:
    """Return the ledger's peak changed by as much as the sums on paper change."""
    return of_size(run.ledger.peak + wrong.peak - run.paper.peak, why)


def of_size(peak: int, why: str) -> Wrong:
    """Return a peak of so many bytes of which the terms are not known."""
    return Wrong(totals={Phase.FORWARD: {Category.TEMPORARY: peak}}, why=why)
