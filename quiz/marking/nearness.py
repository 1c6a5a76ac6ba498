"""How near a number is to the reference, and which mistake it is nearest to."""

from collections.abc import Sequence
from fractions import Fraction

from engine.units import GB, GIB, MB, MIB, TB, TIB
from problems.answers.answer import FULL_CREDIT, Band
from problems.problem import Mistake

# (largest relative distance, credit); the factor of 2 of the estimate band is `DOUBLE`.
BANDS: dict[Band, tuple[tuple[Fraction, Fraction], ...]] = {
    "count": ((FULL_CREDIT["count"], Fraction(1)),),
    "estimate": ((FULL_CREDIT["estimate"], Fraction(1)), (Fraction(35, 100), Fraction(1, 2))),
}
DOUBLE = Fraction(2)
DOUBLE_CREDIT = Fraction(1, 4)
# (how many times its lower end the upper end of a range is at most, credit where it holds the
# reference): as wide as from one end of a band to the other.
RANGES: dict[Band, tuple[tuple[Fraction, Fraction], ...]] = {
    "count": (
        (Fraction(102, 98), Fraction(1)),
        (Fraction(115, 85), Fraction(1, 2)),
        (Fraction(135, 65), Fraction(1, 4)),
    ),
    "estimate": (
        (Fraction(115, 85), Fraction(1)),
        (Fraction(135, 65), Fraction(1, 2)),
        (Fraction(4), Fraction(1, 4)),
    ),
}
NAMED_WITHIN = Fraction(3, 100)
EQUALLY_NEAR = Fraction(3, 1000)
SLIP_WITHIN = Fraction(5, 1000)

# The units in which a size from so many to so many bytes is said.
UNITS = (
    ("GB", "GiB", Fraction(GIB, GB), GB // 2, GB * TB),
    ("TB", "TiB", Fraction(TIB, TB), TB // 2, GB * TB),
    ("MB", "MiB", Fraction(MIB, MB), 0, 2 * GB),
)


def distance(number: Fraction, reference: Fraction) -> Fraction | None:
    """Return |number / reference - 1|; None where the reference is 0 and the number is not."""
    if not reference:
        return None if number else Fraction(0)
    return abs(number / reference - 1)


def credit(number: Fraction, reference: Fraction, band: Band) -> Fraction:
    """Return the share of the credit that `number` has earned, from 0 to 1."""
    off = distance(number, reference)
    if off is None:
        return Fraction(0)
    for within, share in BANDS[band]:
        if off <= within:
            return share
    if band == "estimate" and reference and 1 / DOUBLE <= number / reference <= DOUBLE:
        return DOUBLE_CREDIT
    return Fraction(0)


def credit_of_range(low: Fraction, high: Fraction, reference: Fraction, band: Band) -> Fraction:
    """Return what a range earns: the narrower, the more, if it holds the reference.

    One that misses it earns what its nearer end would, but no more than half.
    """
    if low <= reference <= high:
        return next((share for times, share in RANGES[band] if high <= times * low), Fraction(0))
    nearer = high if high < reference else low
    return min(credit(nearer, reference, band), Fraction(1, 2))


def slip(number: Fraction, reference: Fraction) -> Mistake | None:
    """Return "GiB typed as GB" or the like where that gives `number`; both in bytes."""
    for decimal, binary, ratio, least, most in UNITS:
        if not least <= reference <= most:
            continue
        for said, meant, value in (
            (decimal, binary, reference / ratio),
            (binary, decimal, reference * ratio),
        ):
            off = distance(number, value)
            if off is not None and off <= SLIP_WITHIN:
                says = f"The number is right in {meant}, but it was said in {said}."
                name = f"{meant} typed as {said}"
                return Mistake(name=name, value=value, feedback=says)
    return None


def nearest(number: Fraction, mistakes: Sequence[Mistake]) -> Mistake | None:
    """Return the mistake that gives `number` within 3%; None where two are equally near."""
    near = [
        (off, place, mistake)
        for place, mistake in enumerate(mistakes)
        if (off := distance(number, mistake.value)) is not None and off <= NAMED_WITHIN
    ]
    near.sort(key=lambda row: row[:2])
    if len(near) > 1 and near[1][0] - near[0][0] <= EQUALLY_NEAR:
        return None
    return near[0][2] if near else None
