"""Horizontal bars as values, and as shapes of a drawing or as lines of text."""

from collections.abc import Iterator
from dataclasses import dataclass

# The drawing's own units.
LABELS, BARS, SAID = 250, 560, 150
ROW, BAR = 26, 18
# Of a piece that has its letter on it.
LEAST = 12
# Characters of a bar in text.
COLUMNS = 40


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a bar: its length as a part of the whole width, its colour, and its letter."""

    share: float
    colour: str
    letter: str


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A row of a chart; `said` has its number. `framed` shows how long a full bar is."""

    label: str
    pieces: tuple[Piece, ...]
    said: str
    framed: bool = False


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A line across all bars, such as the end of a card."""

    share: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bars below each other.

    Args:
        name: unique on its page, for those who refer to its title.
        spoken: what it shows, in sentences, for those who do not see it.
        key: (colour, letter, what it stands for).
    """

    name: str
    title: str
    spoken: str
    bars: tuple[Bar, ...]
    limit: Limit | None = None
    key: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A piece in units of the drawing; `letter` is "" where it has no room."""

    x: float
    y: float
    width: float
    colour: str
    letter: str


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text in units of the drawing."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """The shapes of a chart, from the left and from above."""

    width: int
    height: int
    full: int
    shapes: tuple[Shape, ...]
    frames: tuple[tuple[float, float], ...]
    labels: tuple[Label, ...]
    said: tuple[Label, ...]
    limit: Label | None


def drawing(chart: Chart) -> Drawing:
    """Return the shapes of a chart."""
    tops = [row * ROW + (ROW - BAR) / 2 for row in range(len(chart.bars))]
    middles = [top + BAR / 2 for top in tops]
    rows = tuple(zip(chart.bars, tops, middles, strict=True))
    height = ROW * len(chart.bars)
    limit = chart.limit
    return Drawing(
        width=LABELS + BARS + SAID,
        height=height,
        full=BARS,
        shapes=tuple(shape for bar, top, _ in rows for shape in _shapes(bar, top)),
        frames=tuple((LABELS, top) for bar, top, _ in rows if bar.framed),
        labels=tuple(Label(x=LABELS - 8, y=y, text=bar.label) for bar, _, y in rows),
        said=tuple(Label(x=LABELS + BARS + 8, y=y, text=bar.said) for bar, _, y in rows),
        limit=None
        if limit is None
        else Label(x=LABELS + BARS * limit.share, y=height, text=limit.text),
    )


def _shapes(bar: Bar, top: float) -> Iterator[Shape]:
    left = float(LABELS)
    for piece in bar.pieces:
        width = BARS * piece.share
        letter = piece.letter if width >= LEAST and piece.letter.isupper() else ""
        yield Shape(x=left, y=top, width=width, colour=piece.colour, letter=letter)
        left += width


def text(chart: Chart) -> str:
    """Return a chart as lines of text, a letter for each column."""
    widest = max((len(bar.label) for bar in chart.bars), default=0)
    lines = [f"{bar.label:<{widest}}  {_line(chart, bar)} {bar.said}" for bar in chart.bars]
    if chart.limit:
        at = widest + 2 + round(COLUMNS * chart.limit.share)
        lines.append(f"{'':<{at}}^ {chart.limit.text}")
    key = "  ".join(f"{letter} {name}" for _, letter, name in chart.key)
    return "\n".join([*(line.rstrip() for line in lines), *([key] if key else [])])


def _line(chart: Chart, bar: Bar) -> str:
    drawn, end = "", 0.0
    for piece in bar.pieces:
        end += piece.share
        drawn += piece.letter * (round(COLUMNS * end) - len(drawn))
    drawn = drawn.ljust(COLUMNS, "□" if bar.framed else " ") + " "
    if chart.limit:
        at = round(COLUMNS * chart.limit.share)
        drawn = f"{drawn[:at]}|{drawn[at + 1 :]}"
    return drawn
