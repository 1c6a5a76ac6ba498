"""Why a request can fail, each as figures of a process that tell it from the others."""

from collections.abc import Callable, Mapping
from typing import Literal

from engine.allocator import LARGE_SEGMENT
from engine.units import GB, MIB
from problems.artefacts.failing import LEAST_FREE, outside
from problems.artefacts.message import OutOfMemory
from problems.draw import Draw

Cause = Literal["capacity", "fragments", "others", "outside", "limit", "alone"]
# What a process has beside PyTorch's own memory at most, where nothing else is wrong.
USUAL = 2 * GB
# A cache that is no larger is in order, in thousandths of what is allocated.
ORDERLY = (5, 40)
LARGEST_OUTSIDE = 24 * GB
THOUSAND = 1000


def causes(x: OutOfMemory) -> tuple[Cause, ...]:
    """Return each cause that the figures show; "capacity" where there is no other."""
    missing = x.request - x.free
    found: list[tuple[Cause, bool]] = [
        ("alone", x.request > x.total),
        ("limit", x.limit is not None and x.reserved + x.request > x.limit),
        ("others", 0 < missing <= x.others),
        ("outside", 0 < missing <= x.outside - USUAL),
        ("fragments", x.cached >= x.request),
    ]
    return tuple(cause for cause, holds in found if holds) or ("capacity",)


def process(draw: Draw, cause: Cause, *, peak: int, total: int, gpus: int) -> OutOfMemory | None:
    """Return a process that fails for this cause alone, None where what was drawn does not.

    Args:
        draw: the numbers that the peak leaves open.
        cause: why it fails.
        peak: what the step would have allocated at its peak.
        total: the card.
        gpus: of the run: several have communicators.
    """
    request = peak * draw.between(15, 220) // THOUSAND
    if cause == "capacity" and draw.chance(30):
        request = draw.between(2, 9) * MIB
    base = OutOfMemory(
        tensor=request,
        total=total,
        allocated=peak - request,
        reserved=peak - request,
        outside=outside(draw, gpus),
    )
    made = _MADE[cause](draw, base)
    sound = made is not None and made.cached >= 0 and made.free >= 0
    return made if made is not None and sound and causes(made) == (cause,) else None


def _free(draw: Draw, x: OutOfMemory) -> int:
    return LEAST_FREE + draw.below(max(x.request * 9 // 10 - LEAST_FREE, MIB))


def _reserved(draw: Draw, x: OutOfMemory) -> int:
    """Return what is reserved where the cache is in order."""
    return x.allocated * (THOUSAND + draw.between(*ORDERLY)) // THOUSAND


def _capacity(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    reserved = x.total - x.outside - _free(draw, x)
    allocated = reserved * THOUSAND // (THOUSAND + draw.between(*ORDERLY))
    if x.request <= LARGE_SEGMENT:  # the cache has not even so much
        allocated = reserved - draw.between(1, 15) * MIB
    if allocated > x.allocated:
        return None
    return _with(x, allocated=allocated, reserved=reserved)


def _fragments(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    made = _with(x, reserved=x.total - x.outside - _free(draw, x))
    return made if 0 < 2 * made.cached < made.allocated else None


def _others(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    reserved = _reserved(draw, x)
    return _with(x, reserved=reserved, others=x.total - reserved - x.outside - _free(draw, x))


def _outside(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    reserved = _reserved(draw, x)
    around = x.total - reserved - _free(draw, x)
    return _with(x, reserved=reserved, outside=around) if around <= LARGEST_OUTSIDE else None


def _limit(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    reserved = _reserved(draw, x)
    limits = [x.total * tenths // 10 for tenths in range(2, 10)]
    near = [limit for limit in limits if reserved <= limit < reserved + x.request]
    return _with(x, reserved=reserved, limit=near[0]) if near else None


def _alone(draw: Draw, x: OutOfMemory) -> OutOfMemory | None:
    made = _with(x, tensor=x.total * draw.between(1050, 4000) // THOUSAND)
    return _with(made, reserved=_reserved(draw, made))


def _with(x: OutOfMemory, **figures: int) -> OutOfMemory:
    return OutOfMemory(
        tensor=figures.get("tensor", x.tensor),
        total=x.total,
        allocated=figures.get("allocated", x.allocated),
        reserved=figures.get("reserved", x.reserved),
        outside=figures.get("outside", x.outside),
        others=figures.get("others", x.others),
        limit=figures.get("limit", x.limit),
    )


_MADE: Mapping[Cause, Callable[[Draw, OutOfMemory], OutOfMemory | None]] = {
    "capacity": _capacity,
    "fragments": _fragments,
    "others": _others,
    "outside": _outside,
    "limit": _limit,
    "alone": _alone,
}
