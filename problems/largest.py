"""The largest step within some room: a border that is clear, and what a wrong idea leads to."""

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from engine.units import MB
from problems.amounts import Moment
from problems.peaks import Run
from problems.wording import bare_gb, gb, number
from problems.wrong_ideas.applied import wrongs
from problems.wrong_ideas.ways import right
from problems.wrong_ideas.wrong import Wrong


def is_clear(room: int, low: int, high: int, *, margin: int) -> bool:
    """Return whether the border lies well between two peaks that are well apart.

    Args:
        room: the border.
        low: the peak that is to be below it.
        high: the peak with one sequence, or one unit, more.
        margin: percent of it that are to be free on both sides.
    """
    step = high - low
    return step * 25 >= room and margin * step <= 100 * (room - low) <= (100 - margin) * step


def most_within(low: Wrong, high: Wrong, room: int, at: int) -> int:
    """Return the largest size of a step within `room`; 0 where there is none or no end.

    `low` is the step of size `at`, `high` the one that is one larger; what a phase needs grows by
    the same amount with each.
    """
    fitting = []
    for phase, size in low.phase_sizes.items():
        step = high.phase_sizes[phase] - size
        if step > 0:
            fitting.append(at + (room - size) // step)
    return max(min(fitting, default=0), 0)


def divided(binding: Moment, room: int) -> tuple[str, int]:
    """Return "(room - fixed) / growing = quotient, down to n" at a moment, and that n."""
    fixed = [bare_gb(x.size) for x in binding.amounts if not x.tokens]
    growing = [bare_gb(x.size) for x in binding.amounts if x.tokens]
    slope = f"({' + '.join(growing)})" if len(growing) > 1 else growing[0]
    quotient = Fraction(room - binding.fixed, binding.growing)
    count = floor(quotient)
    said = f"({' - '.join([bare_gb(room), *fixed])}) / {slope} = {float(quotient):.1f}"
    return f"{said}, down to {count}", count


def wrong_sizes(run: Run, above: Run, percent: int, at: int) -> Iterator[tuple[int, str, str]]:
    """Yield sizes that wrong ideas of the room or of the peak lead to, their names and why.

    Args:
        run: the largest step within `percent` of the card, of size `at`.
        above: the step that is one larger.
        percent: the share of the card that is the room.
        at: the size.
    """
    gpu = run.scenario.hardware.gpu
    room = gpu.memory * percent // 100
    for name, wrong_room, why in (
        (
            "share forgotten",
            gpu.memory,
            f"would fit in the whole {gb(gpu.memory)}; {percent}% of it is {gb(room)}.",
        ),
        (
            "MiB taken for MB",
            gpu.memory_mib * MB * percent // 100,
            f"comes of {number(gpu.memory_mib)} MiB read as MB; in bytes the room is {gb(room)}.",
        ),
    ):
        yield most_within(right(run), right(above), wrong_room, at), name, why
    of_above = wrongs(above, "size")
    for name, low in wrongs(run, "size").items():
        high = of_above.get(name)
        if high is None or low.phases != high.phases:
            continue
        off = gb(abs(low.peak - run.ledger.peak))
        yield most_within(low, high, room, at), name, low.why.format(off=off)
