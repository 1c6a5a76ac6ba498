"""Pictures of a page as values: shapes from the left and from above, with what they say."""

from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]
# Of a shape: filled, an area around a line, or a line.
Look = Literal["first", "faint", "axis", "grid", "line"]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle; `says` is shown where a pointer rests on it."""

    x: float
    y: float
    width: float
    height: float
    look: Look = "first"
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Path:
    """A line or, in the looks of an area, what it goes around; `d` is SVG's own."""

    d: str
    look: Look = "axis"


@dataclass(frozen=True, kw_only=True)
class Words:
    """A text; `x` is where it begins, where its middle is or where it ends."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture and all that it says.

    Args:
        name: unique on its page.
        title: what is shown, in a few words.
        spoken: what is to be seen, for who does not see it.
        caption: what stands below it.
        box: left, top, width and height of what is drawn.
        shapes: later ones cover earlier ones.
    """

    name: str
    title: str
    spoken: str
    caption: str
    box: tuple[int, int, int, int]
    shapes: tuple[Box | Path | Words, ...]


def line(points: tuple[tuple[float, float], ...]) -> str:
    """Return SVG's path through points."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
