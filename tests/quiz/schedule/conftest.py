"""Answers of any kind at any time, without their questions."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from problems.registry import kinds
from quiz.history.store import Answered
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Verdict, mark_of

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def answer_to(problem, score, **changes):
    """An answer to the problem with this id; `day` counts from `START`."""
    name, _, seed = problem.partition("@")
    kind = kinds()[name]
    given = {
        "mistake": None,
        "mark": None,
        "own": None,
        "tells": (),
        "hints": 0,
        "day": 0,
    } | changes
    attempt = Attempt(
        topic=kind.topic,
        level=kind.level_of(int(seed)),
        hints=given["hints"],
        seconds=30.0,
        own=given["own"],
        tells=given["tells"],
        verdict=Verdict(
            problem=problem,
            answer="37 GB",
            score=Fraction(score),
            verdict=given["mark"] or mark_of(Fraction(score)),
            mistake=given["mistake"],
            feedback="What it is.",
        ),
    )
    return Answered(at=START + timedelta(days=given["day"]), attempt=attempt)


@pytest.fixture
def answer():
    return answer_to


@pytest.fixture
def start():
    return START
