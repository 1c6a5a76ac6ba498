"""What the answers of weeks say of a learner, as frozen values."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from problems.problem import TOPICS
from quiz.history.store import Answered, Interviewed
from quiz.progress.days import DAY, WEEK, Days, days, end_of, local
from quiz.progress.levels import Estimate, estimates
from quiz.progress.mistakes import Mistake, mistakes
from quiz.progress.ranges import Ranges, ranges
from quiz.progress.shares import Effort, Share, effort, share, typed
from quiz.schedule.concepts import Concept
from quiz.schedule.due import cards

WEEKS = 12


@dataclass(frozen=True, kw_only=True)
class TopicLine:
    """A topic.

    Args:
        topic: a key of `TOPICS`, or what an answer of another version calls it.
        estimate: of the level; None where nothing was answered.
        then: the estimate at the end of each of the last weeks, the last one today's.
        last: when a question was answered last.
        due: concepts that are due now.
    """

    topic: str
    share: Share
    estimate: Estimate | None
    then: tuple[Estimate | None, ...]
    last: datetime | None
    due: int


@dataclass(frozen=True, kw_only=True)
class DueConcept:
    """A concept, and when it is asked again."""

    concept: Concept
    topic: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Due:
    """What comes up again.

    Args:
        concepts: all that were met, by when they are due.
        now: how many of them are due by now.
        days: (day of the calendar, how many fall due on it) for what is not yet due.
    """

    concepts: tuple[DueConcept, ...]
    now: int
    days: tuple[tuple[date, int], ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A learner's progress.

    Args:
        now: what came later is left out.
        zone: of the calendar; None is the system's.
        topic: the only one looked at; None for all.
        first: when the first answer was given; None where there is none.
        answers: typed ones.
        passed: questions that were skipped, or whose solution was shown.
        own: answers that count by the learner's own mark.
        weeks: the Mondays of the last weeks, the current one last.
        topics: all, in order, those of other versions last.
        interviews: the finished ones, the latest last; none where one topic is looked at.
    """

    now: datetime
    zone: tzinfo | None
    topic: str | None
    first: datetime | None
    answers: int
    passed: int
    own: int
    weeks: tuple[date, ...]
    topics: tuple[TopicLine, ...]
    due: Due
    days: Days
    ranges: Ranges
    mistakes: tuple[Mistake, ...]
    efforts: tuple[Effort, ...]
    interviews: tuple[Interviewed, ...]


def report(
    answered: Sequence[Answered],
    *,
    now: datetime,
    zone: tzinfo | None,
    kinds: Collection[str],
    topic: str | None = None,
    interviews: Sequence[Interviewed] = (),
) -> Report:
    """Return what answers say.

    Args:
        answered: in the order in which they were given.
        now: those that were given later are left out.
        zone: of the calendar by which days are counted; None is the system's.
        kinds: of question that there are today.
        topic: leaves out all other topics.
        interviews: in the order in which they began.
    """
    every = [one for one in answered if one.at <= now]
    told = _report(every, now, zone, kinds, topic)
    return replace(told, interviews=_met(interviews, now, topic))


def _report(
    every: Sequence[Answered],
    now: datetime,
    zone: tzinfo | None,
    kinds: Collection[str],
    topic: str | None,
) -> Report:
    """Return what answers up to `now` say, without interviews."""
    kept = [one for one in every if topic in {None, one.attempt.topic}]
    given = [one for one in kept if typed(one.attempt)]
    calendar = days([one.at for one in given], local(now, zone), zone)
    weeks = tuple(week.start for week in calendar.weeks(WEEKS))
    due = _due(kept, now, zone)
    return Report(
        now=now,
        zone=zone,
        topic=topic,
        first=given[0].at if given else None,
        answers=len(given),
        passed=len(kept) - len(given),
        own=sum(one.attempt.own is not None for one in given),
        weeks=weeks,
        topics=_topics(kept, due, _then(every, weeks, zone), topic),
        due=due,
        days=calendar,
        ranges=ranges(given),
        mistakes=mistakes(given, now, weeks=weeks, zone=zone, kinds=kinds),
        efforts=effort([one.attempt for one in given]),
        interviews=(),
    )


def _met(
    interviews: Sequence[Interviewed], now: datetime, topic: str | None
) -> tuple[Interviewed, ...]:
    """Return those that began by `now`; of one topic there are none: each is of several."""
    return tuple(one for one in interviews if topic is None and one.at <= now)


def _then(
    every: Sequence[Answered], weeks: Sequence[date], zone: tzinfo | None
) -> tuple[Mapping[str, Estimate], ...]:
    """Return what was estimated at the end of each week, by topic."""
    return tuple(estimates(_until(every, monday, zone)) for monday in weeks)


def _topics(
    kept: Sequence[Answered],
    due: Due,
    then: Sequence[Mapping[str, Estimate]],
    topic: str | None,
) -> tuple[TopicLine, ...]:
    if not kept:
        return ()
    by_topic: dict[str, list[Answered]] = {}
    for one in kept:
        by_topic.setdefault(one.attempt.topic, []).append(one)
    named = tuple(TOPICS) if topic is None else (topic,)
    waiting = Counter(one.topic for one in due.concepts[: due.now])
    return tuple(
        _line(name, by_topic.get(name, ()), then, waiting[name])
        for name in dict.fromkeys((*named, *by_topic))
    )


def _until(kept: Sequence[Answered], monday: date, zone: tzinfo | None) -> Sequence[Answered]:
    """Return the answers up to the end of the week that begins on `monday`."""
    end = end_of(monday + WEEK - DAY, zone)
    return kept[: bisect_right(kept, end, key=lambda one: one.at)]


def _line(
    name: str,
    some: Sequence[Answered],
    then: Sequence[Mapping[str, Estimate]],
    due: int,
) -> TopicLine:
    return TopicLine(
        topic=name,
        share=share([one.attempt for one in some]),
        estimate=then[-1].get(name),
        then=tuple(week.get(name) for week in then),
        last=some[-1].at if some else None,
        due=due,
    )


def _due(kept: Sequence[Answered], now: datetime, zone: tzinfo | None) -> Due:
    topics = {one.attempt.kind: one.attempt.topic for one in kept}
    concepts = sorted(
        (
            DueConcept(concept=concept, topic=topics[concept.kind], at=standing.due)
            for concept, standing in cards(kept).items()
        ),
        key=lambda one: (one.at, one.concept.kind, one.concept.mistake or ""),
    )
    waiting = sum(one.at <= now for one in concepts)
    later = Counter(local(one.at, zone) for one in concepts[waiting:])
    return Due(concepts=tuple(concepts), now=waiting, days=tuple(sorted(later.items())))
