"""Two outcomes that come about equally often."""

from collections.abc import Iterator
from math import sqrt

from problems.check.rule import MANY, Flaw

FEWEST, MOST = 40, 60


def unbalanced(said: str, times: int, of: int) -> Iterator[Flaw]:
    """Yield a flaw where `times` of so many are less than 40% or more than 60%.

    Of few there may be two standard deviations of chance more, or fewer.
    """
    chance = 0 if of >= MANY else round(100 / sqrt(of))
    if not (FEWEST - chance) * of <= 100 * times <= (MOST + chance) * of:
        what = f"{times} of {of} are {said}, not {FEWEST} to {MOST}%"
        yield Flaw("answers", what, "draw until half of them are")
