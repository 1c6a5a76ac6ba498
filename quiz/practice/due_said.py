"""What is due is told: how many kinds of question now, or when the first will be."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil

from problems.registry import kinds
from quiz.history.store import Answered
from quiz.schedule.choosing import next_due, overdue

COMMAND = "memquiz practice --due"
DAY = timedelta(days=1)


def due_said(answered: Sequence[Answered], now: datetime) -> str:
    """Return how many kinds of question are due, or when the first is; "" where none ever will."""
    every = tuple(kinds().values())
    waiting = len(overdue(every, answered, now))
    if waiting:
        return f"Due now, {waiting} kind{'s' if waiting != 1 else ''} of question: {COMMAND}"
    first = next_due(every, answered)
    return "" if first is None else f"Due next: {_in(first - now)}"


def nothing_due(first: datetime | None, now: datetime) -> str:
    """Return what is said where nothing is due that was asked for."""
    if first is None:
        return (
            "Nothing is due: what is answered comes back in days. Begin with:\n  memquiz practice"
        )
    return f"Nothing is due; the next is {_in(first - now)}. Until then:\n  memquiz practice"


def _in(left: timedelta) -> str:
    days = max(ceil(left / DAY), 1)
    return "within a day" if days == 1 else f"in {days} days"
