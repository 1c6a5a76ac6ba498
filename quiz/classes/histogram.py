"""How the points of a class are spread: ten bars, each a tenth of all points."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

BARS = 10
WIDTH, HEIGHT, GAP = 600, 180, 6


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


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A bar as it is drawn, in units of the picture."""

    bar: Bar
    x: int
    y: int
    width: int
    height: int


def histogram(shares: Sequence[Fraction]) -> tuple[Bar, ...]:
    """Return how many shares, from 0 to 1, lie in each tenth."""
    places = [min(int(share * BARS), BARS - 1) for share in shares]
    return tuple(
        Bar(low=BARS * at, high=BARS * (at + 1), students=places.count(at)) for at in range(BARS)
    )


def drawn(bars: Sequence[Bar]) -> tuple[Drawn, ...]:
    """Return the bars as rectangles, the tallest one as tall as the picture."""
    most = max((bar.students for bar in bars), default=0) or 1
    step = WIDTH // len(bars)
    return tuple(
        Drawn(
            bar=bar,
            x=at * step + GAP // 2,
            y=HEIGHT - HEIGHT * bar.students // most,
            width=step - GAP,
            height=HEIGHT * bar.students // most,
        )
        for at, bar in enumerate(bars)
    )
