"""One bar a phase, its lines stacked by category, each category told by its letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.ledger import Category, Ledger, Phase
from engine.units import decimal

LETTERS: Mapping[Category, str] = {
    Category.WEIGHTS: "W",
    Category.MASTER_WEIGHTS: "M",
    Category.GRADIENTS: "G",
    Category.OPTIMIZER_STATE: "O",
    Category.ACTIVATIONS: "A",
    Category.LOGITS: "L",
    Category.TEMPORARY: "T",
    Category.COMMUNICATION: "C",
    Category.KV_CACHE: "K",
}
# A card more than so many times as large as the peak would leave nothing to see of the lines.
LARGEST_CARD = 3


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A phase's bar: (category, columns) from left to right."""

    phase: Phase
    size: int
    pieces: tuple[tuple[Category, int], ...]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bars that `scale` bytes would fill, and the column at which the card ends, if it is seen."""

    bars: tuple[Bar, ...]
    scale: int
    limit: int | None


def chart(ledger: Ledger, capacity: int, width: int, *, beside: int = 0) -> Chart:
    """Return the bars of every phase for `width` columns.

    Args:
        ledger: what is drawn.
        capacity: bytes of the card.
        width: columns.
        beside: bytes of another peak that is drawn on the same scale.
    """
    scale, limit = scaled(max(ledger.peak, beside), capacity, width)
    bars = tuple(
        Bar(phase=phase, size=size, pieces=_pieces(ledger, phase, scale, width))
        for phase, size in ledger.phases.items()
    )
    return Chart(bars=bars, scale=scale, limit=limit)


def scaled(peak: int, capacity: int, width: int) -> tuple[int, int | None]:
    """Return the bytes that fill `width` columns, and where the card ends, if that is seen."""
    seen = capacity <= LARGEST_CARD * peak
    scale = max(peak, capacity if seen else 0, 1)
    return scale, capacity * width // scale if seen else None


def used(ledger: Ledger) -> tuple[Category, ...]:
    """Return the categories that have bytes, in the order in which they are drawn."""
    return tuple(category for category in LETTERS if ledger.total(category))


def told(sizes: Mapping[Category, int]) -> str:
    """Return what a bar shows as words: "weights 4.02 GB, gradients 2.01 GB"."""
    return ", ".join(
        f"{str(category).replace('_', ' ')} {decimal(sizes[category])}"
        for category in LETTERS
        if sizes.get(category)
    )


def _pieces(
    ledger: Ledger, phase: Phase, scale: int, width: int
) -> tuple[tuple[Category, int], ...]:
    return stacked(by_category(ledger, phase), scale, width)


def by_category(ledger: Ledger, phase: Phase) -> dict[Category, int]:
    """Return the bytes of each category that is alive in a phase."""
    return {c: ledger.total(c, phase=phase) for c in Category}


def stacked(
    sizes: Mapping[Category, int], scale: int, width: int
) -> tuple[tuple[Category, int], ...]:
    """Return the columns of each category where `scale` bytes fill `width` columns."""
    drawn = [category for category in LETTERS if sizes.get(category)]
    columns = _columns([sizes[category] for category in drawn], scale, width)
    return tuple((c, n) for c, n in zip(drawn, columns, strict=True) if n)


def _columns(sizes: Sequence[int], scale: int, width: int) -> list[int]:
    """Round each size to columns so that their sum is the rounded sum (largest remainders)."""
    columns = [size * width // scale for size in sizes]
    missing = (2 * sum(sizes) * width + scale) // (2 * scale) - sum(columns)
    by_remainder = sorted(range(len(sizes)), key=lambda i: -(sizes[i] * width % scale))
    for index in by_remainder[:missing]:
        columns[index] += 1
    return columns
