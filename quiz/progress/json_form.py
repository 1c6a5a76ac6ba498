"""A report as plain values for other programs: the one place that fixes their shape."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from quiz.history.store import Interviewed
from quiz.progress import words
from quiz.progress.levels import Estimate
from quiz.progress.mistakes import Made, Mistake
from quiz.progress.ranges import Held, Ranges
from quiz.progress.report import Due, Report, TopicLine
from quiz.progress.shares import Effort


def as_json(report: Report) -> dict[str, Any]:
    """Return the report. Moments are ISO 8601 in UTC, days those of the reader's calendar."""
    return {
        "now": _moment(report.now),
        "today": report.days.today.isoformat(),
        "topic": report.topic,
        "answers": report.answers,
        "passed": report.passed,
        "own_marks": report.own,
        "first": _moment(report.first),
        "topics": [_topic(one) for one in report.topics],
        "weeks": [week.isoformat() for week in report.weeks],
        "due": _due(report.due),
        "days": {
            "streak": report.days.streak,
            "longest": report.days.longest,
            "counts": {day.isoformat(): count for day, count in report.days.counts.items()},
        },
        "ranges": _ranges(report.ranges),
        "mistakes": [_mistake(one) for one in report.mistakes],
        "efforts": [_effort(one) for one in report.efforts],
        "interviews": [_interview(one) for one in report.interviews],
    }


def _topic(one: TopicLine) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "title": words.title(one.topic),
        "level": _estimate(one.estimate),
        "level_by_week": [_estimate(found) for found in one.then],
        "questions": one.share.questions,
        "share_of_last_20": _share(one.share.lately),
        "share_of_20_before": _share(one.share.before),
        "last": _moment(one.last),
        "due": one.due,
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"at": found.at, "low": found.low, "high": found.high, "said": found.said}


def _due(due: Due) -> dict[str, Any]:
    return {
        "now": due.now,
        "concepts": [
            {
                "kind": one.concept.kind,
                "mistake": one.concept.mistake,
                "topic": one.topic,
                "at": _moment(one.at),
            }
            for one in due.concepts
        ],
        "days": {day.isoformat(): count for day, count in due.days},
    }


def _ranges(found: Ranges) -> dict[str, Any]:
    return {
        "held": found.held,
        "typed": found.typed,
        "last_20": _held(found.lately),
        "20_before": _held(found.before),
        "judgement": found.judgement,
        "by_ten": [
            {
                "first": _moment(one.first),
                "last": _moment(one.last),
                "held": one.held,
                "typed": one.typed,
            }
            for one in found.groups
        ],
    }


def _held(held: Held) -> dict[str, Any]:
    return {"held": held.held, "typed": held.typed, "ratio": _share(held.width)}


def _mistake(one: Mistake) -> dict[str, Any]:
    return {
        "name": one.name,
        "times": one.times,
        "last_30_days": _made(one.recent),
        "30_before": _made(one.before),
        "last": _moment(one.last),
        "not_made_since": one.since,
        "overcome": one.overcome,
        "kind": one.kind,
        "by_week": list(one.weeks),
    }


def _made(some: Made) -> dict[str, Any]:
    return {"times": some.times, "chances": some.chances}


def _effort(one: Effort) -> dict[str, Any]:
    return {
        "level": one.level,
        "answers": one.answers,
        "median_seconds": one.seconds,
        "hints": one.hints,
        "share": float(one.share),
    }


def _interview(one: Interviewed) -> dict[str, Any]:
    return {
        "at": _moment(one.at),
        "mode": one.mode,
        "level": one.level,
        "minutes": one.minutes,
        "marks": dict(one.marks),
    }


def _share(share: Fraction | None) -> float | None:
    return None if share is None else float(share)


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")
