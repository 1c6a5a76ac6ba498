"""The whiteboard depth: the lines that a person puts down first, and nothing else.

Bytes per parameter, the large tensors that every layer keeps, and the vocabulary: what is left
out (statistics, temporaries, buffers, what surrounds the tensors) is small or hard to guess.
"""

from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Category, Ledger, Line, Phase
from engine.scenario import Scenario

SMALL = frozenset({"norm statistics", "log-sum-exp", "kept by the embedding"})


def whiteboard(scenario: Scenario) -> Ledger:
    """Return the first-order lines of `scenario` as a ledger of their own."""
    exact = ledger(scenario)
    rows = [row for row in zip(exact.lines, exact.sizes, strict=True) if _first_order(row[0])]
    sizes = tuple(size for _, size in rows)
    return Ledger(
        lines=tuple(line for line, _ in rows), sizes=sizes, lows=sizes, values=exact.values
    )


def _first_order(line: Line) -> bool:
    if line.category in MODEL_STATES:
        return Phase.STEP in line.phases
    if line.category is Category.ACTIVATIONS:
        return Phase.BACKWARD_FIRST in line.phases and line.name not in SMALL
    return line.category is Category.LOGITS
