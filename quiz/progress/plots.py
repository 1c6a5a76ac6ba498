"""The pictures of a report. Each shows what a table beside it says in numbers."""

from collections.abc import Iterator, Sequence
from datetime import date

from quiz.output.figures import Box, Figure, Path, Words, line
from quiz.output.sections import counted
from quiz.progress import words
from quiz.progress.days import DAY, Week
from quiz.progress.levels import HIGHEST, LEVELS, LOWEST, Estimate
from quiz.progress.mistakes import Mistake
from quiz.progress.ranges import Group
from quiz.progress.report import TopicLine

# A picture's own units. Panels stand in rows of so many.
WIDTH, HEIGHT = 640, 150
ACROSS, PANEL, TALL = 2, 290, 90
LEFT, HEAD, FOOT = 54, 22, 30
Shapes = Iterator[Box | Path | Words]


def skill(topics: Sequence[TopicLine], weeks: Sequence[date]) -> Figure:
    """Return the level of each topic over the weeks, a panel a topic."""
    spoken = "; ".join(
        f"{words.title(one.topic)}: {words.level(one.estimate)}" for one in topics if one.estimate
    )
    return Figure(
        name="skill",
        title="Level by topic, week by week",
        spoken=f"Today: {spoken}.",
        caption="Level at the end of each week from junior to senior, with how sure that is as an "
        "area; the second table below has the same numbers.",
        box=_box(len(topics)),
        shapes=tuple(
            shape for place, one in enumerate(topics) for shape in _skill_panel(place, one, weeks)
        ),
    )


def activity(weeks: Sequence[Week]) -> Figure:
    """Return the answers of each day as bars."""
    counts = [number for week in weeks for number in week.counts]
    most = max(counts, default=0)
    days = sum(number > 0 for number in counts)
    said = f"{counted(sum(counts), 'answer')} on {counted(days, 'day')}"
    return Figure(
        name="days",
        title="Answers a day",
        spoken=f"{said} of the last {len(weeks)} weeks; the most on a day is {most}.",
        caption="Answers of each day, a week between two lines; the table below has the same "
        "numbers.",
        box=(-LEFT, -HEAD, LEFT + WIDTH, HEAD + HEIGHT + FOOT),
        shapes=(*_scale(most, WIDTH, HEIGHT), *_day_bars(weeks, most)),
    )


def calibration(groups: Sequence[Group], spoken: str) -> Figure:
    """Return how many ranges of each group held the answer, as a share."""
    return Figure(
        name="ranges",
        title="Ranges that held the answer, ten by ten",
        spoken=spoken,
        caption="Share of each ten ranges in a row that held the answer, the latest on the right; "
        "the table below has the same numbers.",
        box=(-LEFT, -HEAD, LEFT + WIDTH, HEAD + HEIGHT + FOOT),
        shapes=(*_percents(), *_group_bars(groups)),
    )


def trend(mistakes: Sequence[Mistake], weeks: Sequence[date]) -> Figure:
    """Return how often each mistake was made, week by week, a panel a mistake."""
    most = max((number for one in mistakes for number in one.weeks), default=0)
    return Figure(
        name="mistakes",
        title="Mistakes, week by week",
        spoken="; ".join(
            f"{one.name}: {sum(one.weeks[-4:])} times in the last 4 weeks, "
            f"{sum(one.weeks[-8:-4])} in the 4 before"
            for one in mistakes
        ),
        caption="How often each mistake was made in each week; the second table below has the "
        "same numbers.",
        box=_box(len(mistakes)),
        shapes=tuple(
            shape
            for place, one in enumerate(mistakes)
            for shape in _trend_panel(place, one, weeks, most)
        ),
    )


def _box(panels: int) -> tuple[int, int, int, int]:
    rows = -(-panels // ACROSS)
    return (-LEFT, -HEAD, LEFT + WIDTH, rows * (HEAD + TALL + FOOT))


def _corner(place: int) -> tuple[int, int]:
    row, column = divmod(place, ACROSS)
    return column * (WIDTH - PANEL), row * (HEAD + TALL + FOOT)


def _skill_panel(place: int, one: TopicLine, weeks: Sequence[date]) -> Shapes:
    left, top = _corner(place)
    yield Words(x=left, y=top - 8, text=words.title(one.topic), anchor="start")
    for level, name in enumerate(LEVELS):
        y = _level_at(level, top)
        yield Path(d=f"M{left} {y:.1f}h{PANEL}", look="grid")
        if left == 0:
            yield Words(x=-8, y=round(y + 4, 1), text=name, anchor="end")
    step = PANEL / max(len(one.then) - 1, 1)
    known = [(left + step * at, found) for at, found in enumerate(one.then) if found]
    yield from _band(known, top)
    yield from _ends(left, top + TALL, weeks)


def _band(known: Sequence[tuple[float, Estimate]], top: int) -> Shapes:
    if not known:
        return
    upper = [(x, _level_at(found.high, top)) for x, found in known]
    lower = [(x, _level_at(found.low, top)) for x, found in known]
    yield Path(d=line((*upper, *reversed(lower))) + "Z", look="faint")
    yield Path(d=line(tuple((x, _level_at(found.at, top)) for x, found in known)), look="line")
    x, last = known[-1]
    yield Box(x=round(x - 3, 1), y=round(_level_at(last.at, top) - 3, 1), width=6, height=6)


def _level_at(level: float, top: int) -> float:
    inside = min(max(level, LOWEST), HIGHEST)
    return top + TALL * (1 - (inside - LOWEST) / (HIGHEST - LOWEST))


def _ends(left: int, bottom: int, weeks: Sequence[date]) -> Shapes:
    yield Path(d=f"M{left} {bottom}h{PANEL}")
    yield Words(x=left, y=bottom + 16, text=words.dated(weeks[0]), anchor="start")
    yield Words(x=left + PANEL, y=bottom + 16, text=words.dated(weeks[-1]), anchor="end")


def _day_bars(weeks: Sequence[Week], most: int) -> Shapes:
    step = WIDTH / (7 * len(weeks))
    for place, week in enumerate(weeks):
        left = 7 * step * place
        yield Path(d=f"M{left:.1f} {HEIGHT}v6")
        if place % 3 == 0:
            yield Words(x=round(left, 1), y=HEIGHT + 20, text=words.dated(week.start))
        for at, number in enumerate(week.counts):
            height = round(HEIGHT * number / most, 1) if most else 0
            if height:
                day = words.dated(week.start + DAY * at)
                yield Box(
                    x=round(left + step * at + 0.5, 1),
                    y=round(HEIGHT - height, 1),
                    width=round(step - 1, 1),
                    height=height,
                    says=f"{day}: {counted(number, 'answer')}",
                )


def _group_bars(groups: Sequence[Group]) -> Shapes:
    step = WIDTH / len(groups)
    for place, group in enumerate(groups):
        height = round(HEIGHT * group.held / group.typed, 1)
        left = round(step * place + 8, 1)
        middle = round(step * (place + 0.5), 1)
        yield Box(x=left, y=round(HEIGHT - height, 1), width=round(step - 16, 1), height=height)
        yield Words(x=middle, y=HEIGHT + 18, text=f"{group.held} of {group.typed}")


def _percents() -> Shapes:
    for percent in (0, 50, 100):
        y = HEIGHT * (1 - percent / 100)
        yield Path(d=f"M0 {y:.1f}h{WIDTH}", look="grid" if percent else "axis")
        yield Words(x=-8, y=round(y + 4, 1), text=f"{percent}%", anchor="end")


def _scale(most: int, width: int, height: int) -> Shapes:
    yield Path(d=f"M0 {height}h{width}")
    yield Words(x=-8, y=height + 4, text="0", anchor="end")
    if most:
        yield Path(d=f"M0 0h{width}", look="grid")
        yield Words(x=-8, y=4, text=f"{most:,}", anchor="end")


def _trend_panel(place: int, one: Mistake, weeks: Sequence[date], most: int) -> Shapes:
    left, top = _corner(place)
    yield Words(x=left, y=top - 8, text=one.name, anchor="start")
    step = PANEL / len(weeks)
    if left == 0:
        yield Words(x=-8, y=top + 4, text=f"{most:,}", anchor="end")
        yield Words(x=-8, y=top + TALL + 4, text="0", anchor="end")
    yield Path(d=f"M{left} {top}h{PANEL}", look="grid")
    for at, number in enumerate(one.weeks):
        height = round(TALL * number / most, 1) if most else 0
        if height:
            week = words.dated(weeks[at])
            yield Box(
                x=round(left + step * at + 1, 1),
                y=round(top + TALL - height, 1),
                width=round(step - 2, 1),
                height=height,
                says=f"week of {week}: {number}",
            )
    yield from _ends(left, top + TALL, weeks)
