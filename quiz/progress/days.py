"""Days on which a learner answered, as the learner's own calendar has them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


@dataclass(frozen=True, kw_only=True)
class Days:
    """Answers by day.

    Args:
        today: the day on which the report is made.
        counts: answers of each day that has any.
        streak: days in a row with an answer, up to today or, where today has none yet, yesterday.
        longest: the most days in a row that ever had one.
    """

    today: date
    counts: Mapping[date, int]
    streak: int
    longest: int

    def weeks(self, number: int) -> tuple["Week", ...]:
        """Return the last `number` weeks, the current one last."""
        this = self.today - timedelta(days=self.today.weekday())
        starts = [this - WEEK * back for back in reversed(range(number))]
        return tuple(
            Week(
                start=start,
                counts=tuple(self.counts.get(start + DAY * day, 0) for day in range(7)),
                ahead=max(6 - (self.today - start).days, 0),
            )
            for start in starts
        )


@dataclass(frozen=True, kw_only=True)
class Week:
    """A week from Monday to Sunday: its answers by day, and how many days are still ahead."""

    start: date
    counts: tuple[int, ...]
    ahead: int


def days(moments: Sequence[datetime], today: date, zone: tzinfo | None) -> Days:
    """Return the days of answers given at `moments`, as a calendar in `zone` has them.

    Args:
        moments: with their time zones, in any order.
        today: in that calendar.
        zone: None is the system's, each moment by the rules that were then in force.
    """
    counts = Counter(local(moment, zone) for moment in moments)
    last = today if counts[today] else today - DAY
    runs = dict(_runs(day for day in counts if counts[day]))
    return Days(
        today=today,
        counts=dict(sorted((day, number) for day, number in counts.items() if number)),
        streak=runs.get(last, 0),
        longest=max(runs.values(), default=0),
    )


def local(moment: datetime, zone: tzinfo | None) -> date:
    """Return the day of a moment in `zone`; None is the system's."""
    return moment.astimezone(zone).date()


def end_of(day: date, zone: tzinfo | None) -> datetime:
    """Return the last moment of a day in `zone`, None the system's, in UTC."""
    begin = datetime.combine(day + DAY, time.min)
    placed = begin.astimezone(UTC) if zone is None else begin.replace(tzinfo=zone)
    return placed.astimezone(UTC) - timedelta(microseconds=1)


def _runs(practised: Iterable[date]) -> Iterable[tuple[date, int]]:
    """Yield each day with how many in a row end on it."""
    before, length = None, 0
    for day in sorted(practised):
        length = length + 1 if before == day - DAY else 1
        yield day, length
        before = day
