"""The whiteboard depth: the lines that a person puts down first, and nothing else.

Bytes per parameter (states, what the optimizer needs in its step, what ranks exchange), the large
tensors that every layer keeps, and the vocabulary. Left out are statistics, a layer's own working
set and what surrounds the tensors: small, or no product that one can do on paper.
"""

from dataclasses import replace

from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Category, Ledger, Line, Phase
from engine.scenario import Scenario

SMALL = frozenset({"norm statistics", "log-sum-exp", "kept by the embedding"})

MULTIPLES_OF_P = frozenset(
    {
        "optimizer temporaries",
        "fp32 copies of the gradients",
        "weight casts of the layers",
        "weight cast of the head",
    }
)


def whiteboard(scenario: Scenario, of: Ledger | None = None) -> Ledger:
    """Return the first-order lines of `scenario` as a ledger of their own.

    `of` is the exact ledger, where it is at hand already.
    """
    exact = of or ledger(scenario)
    rows = [row for row in zip(exact.lines, exact.sizes, strict=True) if _first_order(row[0])]
    sizes = tuple(size for _, size in rows)
    return replace(exact, lines=tuple(line for line, _ in rows), sizes=sizes, lows=sizes)


def _first_order(line: Line) -> bool:
    if line.category in MODEL_STATES:
        return Phase.STEP in line.phases or Phase.DECODE in line.phases
    if line.category is Category.ACTIVATIONS:
        return Phase.BACKWARD_FIRST in line.phases and line.name not in SMALL
    if line.category is Category.TEMPORARY:
        return line.name in MULTIPLES_OF_P
    return line.category in {Category.LOGITS, Category.COMMUNICATION, Category.KV_CACHE}
