"""Slips of reading that any answer in bytes may have: a unit or a thousand taken for another."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.units import GB, GIB
from problems.answers.answer import APART, Number
from problems.problem import Mistake, Problem
from problems.wording import gb, gib


@dataclass(frozen=True, kw_only=True)
class Slip:
    """A right number that was said wrong.

    Args:
        name: short, as of a mistake.
        times: what the right number is multiplied with.
        says: what went wrong, in a sentence.
    """

    name: str
    times: Fraction
    says: str

    def of(self, value: Fraction) -> Mistake:
        """Return the mistake that a right number of `value` becomes by it."""
        return Mistake(name=self.name, value=value * self.times, feedback=self.says)


EXCHANGED = (
    Slip(
        name="GiB typed as GB",
        times=Fraction(GB, GIB),
        says="The number is right in GiB, but it was said in GB.",
    ),
    Slip(
        name="GB typed as GiB",
        times=Fraction(GIB, GB),
        says="The number is right in GB, but it was said in GiB.",
    ),
)
ANYWHERE = (
    Slip(
        name="bits for bytes",
        times=Fraction(8),
        says="It is 8 times too much: bits, where a byte has eight of them.",
    ),
    Slip(
        name="bytes for bits",
        times=Fraction(1, 8),
        says="It is an eighth: the number was divided by 8, as if it had been in bits.",
    ),
    Slip(
        name="a thousand times too much",
        times=Fraction(1000),
        says="The digits are right and the power of ten is not: 10^3 too much. 10^9 bytes "
        "are a GB, 10^6 an MB.",
    ),
    Slip(
        name="a thousand times too little",
        times=Fraction(1, 1000),
        says="The digits are right and the power of ten is not: 10^3 too little. 10^9 "
        "bytes are a GB, 10^6 an MB.",
    ),
)


PERCENT = (
    Slip(
        name="percent without its sign",
        times=Fraction(100),
        says="It is right in percent; as a plain factor it is a hundredth of that.",
    ),
    Slip(
        name="a factor with a percent sign",
        times=Fraction(1, 100),
        says="It is right as a plain factor; in percent it is a hundred times that.",
    ),
)


def slips(problem: Problem, answer: Number) -> Iterator[Slip]:
    """Yield the slips that change any number of the kind of `answer`, but for GB and GiB."""
    if answer.unit == "1" and answer.default_unit is None:
        yield from PERCENT
    if answer.unit != "bytes":
        return
    yield from ANYWHERE
    gpus = problem.scenario.hardware.gpus if problem.scenario else 1
    if gpus == 1:
        return
    yield Slip(
        name="all GPUs together",
        times=Fraction(gpus),
        says=f"It is what all {gpus:,} GPUs take together; one of them is asked for.",
    )
    yield Slip(
        name="divided by the GPUs once more",
        times=Fraction(1, gpus),
        says=f"It is what one GPU takes, divided by the {gpus:,} GPUs once more.",
    )


def no_unit_slip(size: int, mistakes: Iterable[Mistake]) -> Iterator[Mistake]:
    """Yield the mistakes whose number is not also that of GB taken for GiB."""
    for mistake in mistakes:
        exchanged = (size * slip.times for slip in EXCHANGED)
        if not any(abs(mistake.value / value - 1) <= 2 * APART for value in exchanged):
            yield mistake


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
