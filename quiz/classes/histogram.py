"""How the points of a class are spread: ten bars, each a tenth of all points."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quiz.output.figures import Box, Figure, Path, Words

BARS = 10
WIDTH, HEIGHT, GAP = 600, 180, 6
# Above and below the bars, for their numbers.
ABOVE, BELOW = 24, 30


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Students with a share of the points in [low, high), in percent; the last one has 100 too."""

    low: int
    high: int
    students: int

    @property
    def said(self) -> str:
        """The share: "90 to 100%"."""
        end = "100" if self.high == BARS * BARS else f"below {self.high}"
        return f"{self.low} to {end}%"


def histogram(shares: Sequence[Fraction]) -> tuple[Bar, ...]:
    """Return how many shares, from 0 to 1, lie in each tenth."""
    places = [min(int(share * BARS), BARS - 1) for share in shares]
    return tuple(
        Bar(low=BARS * at, high=BARS * (at + 1), students=places.count(at)) for at in range(BARS)
    )


def drawn(bars: Sequence[Bar], spoken: str) -> Figure:
    """Return the picture of the bars, the tallest one as tall as the picture."""
    return Figure(
        name="spread",
        title="Students by their share of the points",
        spoken=spoken,
        caption="Students by their share of the points in percent; "
        "the table below has the same numbers.",
        box=(0, -ABOVE, WIDTH, ABOVE + HEIGHT + BELOW),
        shapes=(*_shapes(bars), Path(d=f"M0 {HEIGHT}H{WIDTH}")),
    )


def _shapes(bars: Sequence[Bar]) -> Iterator[Box | Words]:
    most = max((bar.students for bar in bars), default=0) or 1
    step = WIDTH // len(bars)
    for at, bar in enumerate(bars):
        height = HEIGHT * bar.students // most
        left, top = at * step + GAP // 2, HEIGHT - height
        width = step - GAP
        yield Box(x=left, y=top, width=width, height=height)
        yield Words(x=left + width // 2, y=top - 6, text=str(bar.students))
        yield Words(x=left + width // 2, y=HEIGHT + 20, text=f"{bar.low}–{bar.high}")
