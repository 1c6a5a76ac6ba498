"""How near a number is to the reference, and which mistake it is nearest to."""

from collections.abc import Sequence
from fractions import Fraction

from engine.units import GB, GIB, MB, MIB, TB, TIB
from problems.problem import Band, Mistake

# (largest relative distance, credit); the factor of 2 of the estimate band is `DOUBLE`.
BANDS: dict[Band, tuple[tuple[Fraction, Fraction], ...]] = {
    "count": ((Fraction(2, 100), Fraction(1)),),
    "estimate": ((Fraction(15, 100), Fraction(1)), (Fraction(35, 100), Fraction(1, 2))),
}
DOUBLE = Fraction(2)
DOUBLE_CREDIT = Fraction(1, 4)
NAMED_WITHIN = Fraction(3, 100)
EQUALLY_NEAR = Fraction(3, 1000)
SLIP_WITHIN = Fraction(5, 1000)
SLIP_CREDIT = Fraction(1, 2)

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
                return Mistake(name=f"{meant} typed as {said}", value=value, feedback=says)
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
