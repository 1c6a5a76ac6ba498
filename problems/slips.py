"""Mistakes that any answer in bytes may have: a unit taken for another."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import GB, GIB
from problems.problem import Mistake
from problems.wording import gb, gib


def unit_slips(size: int) -> Iterator[Mistake]:
    """Yield the two numbers that come of GB and GiB taken for each other."""
    value = Fraction(size * GB, GIB)
    yield Mistake(
        name="GiB typed as GB",
        value=value,
        feedback=f"{gb(value)} is the right number in another unit: {gib(size)}. A GiB is 2^30 "
        f"bytes, 7.4% more than a GB, so {gb(size - value)} are missing.",
    )
    value = Fraction(size * GIB, GB)
    yield Mistake(
        name="GB typed as GiB",
        value=value,
        feedback=f"{gib(value)} is {gb(value)}: the right number was meant in GB, 10^9 bytes. "
        f"As GiB it is {gb(value - size)} too many.",
    )
