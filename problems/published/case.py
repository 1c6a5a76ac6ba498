"""What a published answer that went wrong is."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.units import GB, count
from problems.draw import Draw
from problems.worked import Worked, WrongLine


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published answer, with the same mistake in other numbers.

    Args:
        source: where it was published.
        about: what is worked out, with every assumption, in other numbers.
        worked: the answer as it would be right.
        wrong: the line that went wrong.
        others: what else goes wrong in that line.
        told: what was published, and what is right, in its own numbers.
    """

    source: str
    about: str
    worked: Worked
    wrong: WrongLine
    others: tuple[WrongLine, ...] = ()
    told: str


Make = Callable[[Draw], Published | None]


def billions(draw: Draw) -> int:
    """Return a number of parameters as people say them, to a tenth of a billion."""
    return draw.between(10, 2000) * GB // 10


def said(parameters: int) -> str:
    """Return parameters as a published answer has them: "70.0B"."""
    return count(parameters, digits=1)
