"""A step's timeline as the shapes of a drawing: areas stacked by category, ticks and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.ledger import Category
from engine.units import decimal
from quiz.output.bars import LARGEST_CARD, LETTERS
from quiz.verify.strips import BACKWARD, Strip

# The drawing's own units.
WIDTH, HEIGHT = 960, 320
# Even where little happens in it, a phase is so wide that its name can stand below.
NARROWEST = 44
LETTER = 7
# Of an area that has its letter on it.
LOWEST = 16
ROOMY = 0.9
TICKS = 5


@dataclass(frozen=True, kw_only=True)
class Area:
    """A category's area: the path around it, and where its letter stands, if it has room."""

    category: Category
    path: str
    letter: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text at a place on an axis."""

    at: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn, from the left and from above, in units of `WIDTH` and `HEIGHT`.

    Attributes:
        areas: from the bottom to the top.
        phases: names of phases that have room for them, below the drawing.
        borders: where a phase begins.
        ticks: sizes beside the drawing.
        peak: where the peak is.
        card: where the card's end is, if it is seen.
    """

    areas: tuple[Area, ...]
    phases: tuple[Label, ...]
    borders: tuple[float, ...]
    ticks: tuple[Label, ...]
    peak: Label
    card: Label | None


def drawing(strips: Sequence[Strip], capacity: int) -> Drawing:
    """Return the drawing of `strips` for a card of `capacity` bytes."""
    edges = tuple(_edges(strips))
    sizes = [strip.sample.moment.size for strip in strips]
    highest = max(sizes)
    seen = capacity <= LARGEST_CARD * highest
    scale = max(highest, capacity if seen else 0, 1)
    at = sizes.index(highest)
    return Drawing(
        areas=tuple(_areas(strips, edges, scale)),
        phases=tuple(_names(strips, edges)),
        borders=tuple(edges[first] for first, _ in _runs(strips)),
        ticks=tuple(_ticks(scale)),
        peak=Label(at=(edges[at] + edges[at + 1]) / 2, text=f"peak {decimal(highest)}"),
        card=Label(at=_height(capacity, scale), text=f"card {decimal(capacity)}")
        if seen
        else None,
    )


def _runs(strips: Sequence[Strip]) -> Iterator[tuple[int, int]]:
    """Yield the first strip of each phase and the one behind its last; backward is one phase."""
    first = 0
    for place in range(1, len(strips) + 1):
        if place == len(strips) or _run(strips[place]) != _run(strips[first]):
            yield first, place
            first = place


def _run(strip: Strip) -> tuple[int, str]:
    stretch = strip.stretch
    whole_pass = stretch.label.startswith(BACKWARD)
    return stretch.micro_batch, BACKWARD if whole_pass else stretch.label


def _edges(strips: Sequence[Strip]) -> Iterator[float]:
    """Yield where each strip begins, and where the last one ends."""
    runs = tuple(_runs(strips))
    least = min(NARROWEST, WIDTH / (2 * len(runs)))
    spare, edge = WIDTH - least * len(runs), 0.0
    for first, behind in runs:
        width = least + spare * (behind - first) / len(strips)
        for place in range(behind - first):
            yield edge + width * place / (behind - first)
        edge += width
    yield float(WIDTH)


def _height(size: int, scale: int) -> float:
    return HEIGHT * (1 - size / scale)


def _areas(strips: Sequence[Strip], edges: Sequence[float], scale: int) -> Iterator[Area]:
    below = [0] * len(strips)
    for category in LETTERS:
        above = [
            base + strip.sample.categories.get(category, 0)
            for base, strip in zip(below, strips, strict=True)
        ]
        if above != below:
            lower = [_height(size, scale) for size in below]
            upper = [_height(size, scale) for size in above]
            yield Area(
                category=category,
                path=_path(edges, lower, upper),
                letter=_letter(edges, lower, upper),
            )
        below = above


def _path(edges: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> str:
    """Return the path along the upper side and back along the lower one, in steps."""
    there = _steps(edges, upper)
    back = [(x, y) for x, y in reversed(_steps(edges, lower))]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in [*there, *back]) + "Z"


def _steps(edges: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    points = []
    for place, y in enumerate(heights):
        if place == 0 or y != heights[place - 1]:
            points.append((edges[place], heights[place - 1] if place else y))
            points.append((edges[place], y))
    points.append((edges[len(heights)], heights[-1]))
    return points


def _letter(
    edges: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> tuple[float, float] | None:
    """Return the middle of where the area is about as thick as anywhere, if a letter fits."""
    thick = [bottom - top for bottom, top in zip(lower, upper, strict=True)]
    if max(thick) < LOWEST:
        return None
    roomy = [place for place, one in enumerate(thick) if one >= ROOMY * max(thick)]
    best = roomy[len(roomy) // 2]
    return (edges[best] + edges[best + 1]) / 2, (lower[best] + upper[best]) / 2


def _names(strips: Sequence[Strip], edges: Sequence[float]) -> Iterator[Label]:
    for first, behind in _runs(strips):
        name = _run(strips[first])[1]
        if name and LETTER * len(name) <= edges[behind] - edges[first]:
            yield Label(at=(edges[first] + edges[behind]) / 2, text=name)


def _ticks(scale: int) -> Iterator[Label]:
    """Yield sizes beside the drawing, at steps of 1, 2 or 5 and zeros."""
    ten = 10 ** (len(str(scale)) - 2)
    step = next(n * ten for n in (1, 2, 5, 10, 20, 50, 100) if scale <= TICKS * n * ten)
    for size in range(0, scale + 1, max(step, 1)):
        yield Label(at=_height(size, scale), text=decimal(size, digits=0))
