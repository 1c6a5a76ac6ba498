"""Exact intervals with a dimension: powers of bytes and of things that are counted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from quiz.answers.quantity import RefusalError

LARGEST = Fraction(10) ** 36
SMALLEST = 1 / LARGEST
HIGHEST_POWER = 128
# From here on a number is spelled out: in "1300000000 + 2B" no billion is left to be shared.
LARGE = Fraction(10) ** 6


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number between `low` and `high`.

    Args:
        low: lower end.
        high: upper end.
        bytes: the power of bytes.
        things: powers of what is counted, by family; none is 0.
        scale: factor of the unit or suffix it was typed with, None without.
        mark: "percent", "share", "multiple" or "same" where it was typed so and stands alone,
            "quotient" where two sizes were divided, so that no unit is left to be added.
        symbolic: a symbol of the question is in it.
    """

    low: Fraction
    high: Fraction
    bytes: int = 0
    things: Mapping[str, int] = field(default_factory=dict)
    scale: Fraction | None = None
    mark: str = ""
    symbolic: bool = False

    @property
    def bare(self) -> bool:
        """Neither unit nor count nor mark."""
        return not self.bytes and not self.things and not self.mark


def bounded(amount: Amount, at: int) -> Amount:
    """Return `amount`, refused where its digits would run away."""
    for end in (amount.low,) if amount.low is amount.high else (amount.low, amount.high):
        if abs(end) > LARGEST or (end and abs(end) < SMALLEST):
            raise RefusalError(
                at, "this is too large or too small; type a size that a GPU could have"
            )
    return amount


def product(left: Amount, right: Amount, at: int, *, power: int = 1) -> Amount:
    """Return `left` times `right`, or over it where `power` is -1."""
    if power == -1 and right.low == 0:
        raise RefusalError(at, "this divides by zero; type another number")
    first, last = (right.low, right.high) if power == 1 else (1 / right.high, 1 / right.low)
    low = left.low * first
    # A number that is no range is one object twice.
    one = left.low is left.high and first is last
    counts = Counter(left.things)
    for family, n in right.things.items():
        counts[family] += power * n
    inbytes = left.bytes + power * right.bytes
    scale = right.scale if left.scale is None else left.scale
    things = {family: n for family, n in counts.items() if n}
    return bounded(
        Amount(
            low=low,
            high=low if one else left.high * last,
            bytes=inbytes,
            things=things,
            scale=scale if power == 1 or right.scale is None else None,
            mark="quotient" if left.bytes and not inbytes else _mark_of(left, right, things),
            symbolic=left.symbolic or right.symbolic,
        ),
        at,
    )


def _mark_of(left: Amount, right: Amount, things: Mapping[str, int]) -> str:
    """Return the mark of a product in which no sizes cancel and `things` are left."""
    marks = {left.mark, right.mark}
    if left.mark == right.mark:
        return left.mark
    if marks == {"share", "percent"}:
        return "share"
    plain = not (left.bytes or right.bytes or things)
    return "quotient" if "quotient" in marks and plain else ""


def power(base: Amount, exponent: Amount, at: int) -> Amount:
    """Return `base` to a whole, small `exponent`; both plain numbers."""
    whole = exponent.low.denominator == 1 and exponent.low == exponent.high
    if not (base.bare and exponent.bare and whole and base.low == base.high):
        raise RefusalError(at, "a power needs plain numbers; type one such as 10^9")
    if abs(exponent.low) > HIGHEST_POWER:
        raise RefusalError(at, "this power is too high; type one such as 10^9")
    if base.low == 0 and exponent.low < 0:
        raise RefusalError(at, "this divides by zero; type another number")
    value = base.low ** int(exponent.low)
    return bounded(replace(base, low=value, high=value), at)


def shared(left: Amount, right: Amount, *, sharing: bool) -> tuple[Amount, Amount]:
    """Give a bare number beside one with a unit that unit, or none where `sharing` is off."""
    if left.bare and left.scale is None and right.scale:
        return _inunit(left, right, right.scale, sharing=sharing), right
    if right.bare and right.scale is None and left.scale:
        return left, _inunit(right, left, left.scale, sharing=sharing)
    return _alongside(left, right), _alongside(right, left)


def _alongside(amount: Amount, other: Amount) -> Amount:
    """Return a bare `amount` as one of what `other` measures or counts."""
    if _number_of_bytes(amount, other):
        return replace(amount, bytes=1)
    if amount.bare and not other.bytes:
        return replace(amount, mark=other.mark)
    return amount


def _number_of_bytes(bare: Amount, other: Amount) -> bool:
    """Whether a number with a suffix stands beside a size: 7B*2 + 14 GB."""
    return bare.bare and bare.scale is not None and bare.high >= LARGE and other.bytes == 1


def _inunit(bare: Amount, other: Amount, scale: Fraction, *, sharing: bool) -> Amount:
    spelled_out = bare.high >= LARGE and not other.bytes
    apart = bare.symbolic or spelled_out or not sharing
    one = Fraction(1) if apart else scale
    return replace(
        bare, low=bare.low * one, high=bare.high * one, bytes=other.bytes, mark=other.mark,
        scale=scale,
    )  # fmt: skip


def alike(left: Amount, right: Amount) -> bool:
    """Whether the two can be added."""
    things = not left.things or not right.things or left.things == right.things
    marks = left.mark == right.mark and left.mark != "same"
    return left.bytes == right.bytes and things and marks
