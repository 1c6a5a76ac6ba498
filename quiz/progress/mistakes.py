"""The mistakes that a learner makes: how often, whether more seldom than before, and where."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from quiz.history.store import Answered
from quiz.progress.days import local
from quiz.progress.shares import typed

PERIOD = timedelta(days=30)
# So many questions in a row that could have told a mistake, and did not: it is overcome.
OVERCOME = 5


@dataclass(frozen=True, kw_only=True)
class Made:
    """How often a mistake was made, of the answers that could have told it."""

    times: int
    chances: int


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A mistake that was made.

    Args:
        times: ever.
        recent: in the last 30 days.
        before: in the 30 days before those.
        last: when it was made last.
        since: answers after that which could have told it. Those of older versions, which do not
            say what they could have told, are not among them.
        kind: of question in which it was made most, of those the one in which it was made last;
            None where there is no such kind today.
        weeks: times in each week of the calendar, the current one last.
    """

    name: str
    times: int
    recent: Made
    before: Made
    last: datetime
    since: int
    kind: str | None
    weeks: tuple[int, ...]

    @property
    def overcome(self) -> bool:
        """Whether it was not made in the last few questions that could have told it."""
        return self.since >= OVERCOME


def mistakes(
    answered: Sequence[Answered],
    now: datetime,
    *,
    weeks: Sequence[date],
    zone: tzinfo | None,
    kinds: Collection[str],
) -> tuple[Mistake, ...]:
    """Return the mistakes that were made, the most frequent of the last 30 days first.

    Args:
        answered: in the order in which they were given.
        now: when the report is made.
        weeks: their Mondays, one after the other, the current one last.
        zone: of the calendar that has those weeks; None is the system's.
        kinds: of question that there are today.
    """
    told = _told([one for one in answered if typed(one.attempt)])
    made = [
        _mistake(name, some, now, weeks, zone, kinds)
        for name, some in told.items()
        if any(_made(one, name) for one in some)
    ]
    return tuple(sorted(made, key=lambda one: (-one.recent.times, -one.times, one.name)))


def _told(answered: Sequence[Answered]) -> dict[str, list[Answered]]:
    """Return, for each mistake, the answers that it was made in or could have been told by."""
    told: dict[str, list[Answered]] = {}
    for one in answered:
        for name in dict.fromkeys((*(one.attempt.tells or ()), *one.attempt.mistakes)):
            told.setdefault(name, []).append(one)
    return told


def _made(one: Answered, name: str) -> bool:
    return name in one.attempt.mistakes


def _mistake(
    name: str,
    told: Sequence[Answered],
    now: datetime,
    weeks: Sequence[date],
    zone: tzinfo | None,
    kinds: Collection[str],
) -> Mistake:
    at = [place for place, one in enumerate(told) if _made(one, name)]
    made = [told[place] for place in at]
    days = (local(one.at, zone) for one in made)
    by_week = Counter(day - timedelta(days=day.weekday()) for day in days)
    return Mistake(
        name=name,
        times=len(made),
        recent=_within(told, name, now - PERIOD, now),
        before=_within(told, name, now - 2 * PERIOD, now - PERIOD),
        last=made[-1].at,
        since=len(told) - 1 - at[-1],
        kind=_most(made, kinds),
        weeks=tuple(by_week[monday] for monday in weeks),
    )


def _within(told: Sequence[Answered], name: str, begin: datetime, end: datetime) -> Made:
    chances = [one for one in told if begin < one.at <= end]
    return Made(times=sum(_made(one, name) for one in chances), chances=len(chances))


def _most(made: Sequence[Answered], kinds: Collection[str]) -> str | None:
    found = [kind for one in reversed(made) if (kind := one.attempt.kind) in kinds]
    return Counter(found).most_common(1)[0][0] if found else None
