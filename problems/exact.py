"""Views of a ledger that solutions and mistakes need."""

from collections.abc import Mapping

from engine.ledger import OUTSIDE, Category, Ledger, Phase

PHASES_SAID = {
    Phase.FORWARD: "the end of the forward pass",
    Phase.LOSS: "the backward pass of the loss",
    Phase.BACKWARD_FIRST: "the first layer that the backward pass reaches",
    Phase.BACKWARD_LAST: "the end of the backward pass",
    Phase.REDUCE: "the reduction of the gradients",
    Phase.STEP: "the optimizer's step",
}

Totals = Mapping[Phase, Mapping[Category, int]]


def saved_rows(ledger: Ledger) -> tuple[tuple[str, int], ...]:
    """Return what all layers save for the backward pass, name and bytes, largest first."""
    rows = [
        (line.name, size)
        for line, size in zip(ledger.lines, ledger.sizes, strict=True)
        if line.category is Category.ACTIVATIONS
        and Phase.BACKWARD_FIRST in line.phases
        and Phase.BACKWARD_LAST not in line.phases
        and size
    ]
    return tuple(sorted(rows, key=lambda row: -row[1]))


def saved(ledger: Ledger) -> int:
    """Return the bytes that all layers save for the backward pass."""
    return sum(size for _, size in saved_rows(ledger))


def before_step(ledger: Ledger) -> tuple[Phase, tuple[tuple[str, int], ...]]:
    """Return the phase before the optimizer's step where most is allocated, and of what.

    The second is name and bytes, largest first.
    """
    sums = {phase: sum(by.values()) for phase, by in totals(ledger).items()}
    phase = max((one for one in sums if one is not Phase.STEP), key=lambda one: sums[one])
    rows = [
        (line.name, size)
        for line, size in zip(ledger.lines, ledger.sizes, strict=True)
        if phase in line.phases and line.category not in OUTSIDE and size
    ]
    return phase, tuple(sorted(rows, key=lambda row: -row[1]))


def totals(ledger: Ledger) -> Totals:
    """Return the allocated bytes of each phase by category."""
    sums: dict[Phase, dict[Category, int]] = {phase: {} for phase in ledger.phases}
    for line, size in zip(ledger.lines, ledger.sizes, strict=True):
        if line.category in OUTSIDE:
            continue
        for phase in line.phases:
            if phase in sums:
                sums[phase][line.category] = sums[phase].get(line.category, 0) + size
    return sums
