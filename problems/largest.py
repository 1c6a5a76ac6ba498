"""The largest step within some room: a border that is clear, and what a wrong idea leads to."""

from problems.peaks import Wrong


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
