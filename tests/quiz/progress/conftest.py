"""Answers made by hand, and a report on them."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from quiz.history.store import Answered
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Verdict, mark_of
from quiz.progress.report import report

# A Wednesday.
NOW = datetime(2026, 3, 4, 18, 0, tzinfo=UTC)
KINDS = frozenset({"zero-states", "peak", "kv-total"})


def answer_at(
    at,
    *,
    kind="zero-states",
    topic="A",
    level="mid",
    score=1,
    verdict=None,
    mistake=None,
    tells=("gradients left whole", "master copy forgotten"),
    typed="12 GB",
    parsed=Fraction(12 * 10**9),
    held=None,
    hints=0,
    seconds=60.0,
    own=None,
):
    score = Fraction(score)
    return Answered(
        at=at,
        attempt=Attempt(
            topic=topic,
            level=level,
            tells=tells,
            hints=hints,
            seconds=seconds,
            own=own,
            verdict=Verdict(
                problem=f"{kind}@{int(at.timestamp())}",
                answer=typed,
                parsed=parsed,
                score=score,
                verdict=verdict or mark_of(score),
                mistake=mistake,
                feedback="",
                held=held,
            ),
        ),
    )


def answers(number, **what):
    """Answers an hour apart, the last one an hour ago."""
    return tuple(answer_at(NOW - timedelta(hours=number - at), **what) for at in range(number))


def weeks_of_answers():
    """Four topics over ten weeks: every sort of answer is among them."""
    made = []
    for place in range(160):
        at = NOW - timedelta(hours=10.5 * (160 - place))
        topic, kind = (("A", "zero-states"), ("D", "peak"), ("F", "kv-total"))[place % 3]
        wrong = place % 4 == 0
        ranged = place % 5 == 1
        made.append(
            answer_at(
                at,
                topic=topic,
                kind=kind,
                score=Fraction(1, 4) if wrong else 1,
                mistake="master copy forgotten" if wrong and not ranged else None,
                typed="10-12 GB" if ranged else "12 GB",
                held=not wrong if ranged else None,
                verdict="skipped" if place % 50 == 7 else None,
                level=("junior", "mid", "senior", None)[place % 4],
                hints=place % 2,
            )
        )
    return tuple(made)


@pytest.fixture
def now():
    return NOW


@pytest.fixture
def answer():
    return answer_at


@pytest.fixture
def row_of_answers():
    return answers


@pytest.fixture
def many():
    return weeks_of_answers()


@pytest.fixture
def told():
    """Report on answers as of a moment, in UTC."""

    def make(answered, *, now=NOW, zone=UTC, kinds=KINDS, topic=None):
        return report(answered, now=now, zone=zone, kinds=kinds, topic=topic)

    return make
