"""When a concept is asked again: FSRS over the answers there are.

Nothing of it is kept. The answers are gone through from the first to the last, so that one that
was taken back, marked anew or brought from another computer is always counted as it stands.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from fsrs import Card, Rating, Scheduler

from quiz.history.store import Answered
from quiz.schedule.concepts import Concept, Recall, recalled

# So many right answers of its kind, once it is due, stand for a mistake that none of them could
# have told: few questions of the kind can, or none does any more.
UNTOLD = 3


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a concept stands.

    Args:
        due: when it is to be asked again, UTC.
        last: when it was met last, UTC.
        stability: days after which it is still known with 90%.
        met: how often it was met.
        lapses: how often it was not known.
    """

    due: datetime
    last: datetime
    stability: float
    met: int
    lapses: int


def cards(answered: Iterable[Answered]) -> Mapping[Concept, Standing]:
    """Return where every concept stands that was ever met, in the order of first meeting.

    Args:
        answered: every answer that stands, the oldest first.
    """
    known: dict[Concept, tuple[Card, Standing]] = {}
    of_kind: dict[str, list[Concept]] = {}
    untold: Counter[Concept] = Counter()
    for one in answered:
        before = tuple(of_kind.get(one.attempt.kind, ()))
        met = dict(recalled(one.attempt, before))
        if one.attempt.score == 1:
            waiting = [
                concept
                for concept in before
                if concept not in met and known[concept][1].due <= one.at
            ]
            untold.update(waiting)
            of_itself = met[Concept(kind=one.attempt.kind)]
            met |= dict.fromkeys((of for of in waiting if untold[of] >= UNTOLD), of_itself)
        for concept, recall in met.items():
            if concept not in known:
                of_kind.setdefault(concept.kind, []).append(concept)
            known[concept] = _met(known.get(concept), recall, one.at)
            del untold[concept]
    return {concept: standing for concept, (_, standing) in known.items()}


def due(answered: Iterable[Answered], now: datetime) -> tuple[Concept, ...]:
    """Return the concepts that are due at `now`, the most overdue first."""
    standing = cards(answered)
    waiting = [concept for concept, at in standing.items() if at.due <= now]
    return tuple(sorted(waiting, key=lambda concept: standing[concept].due))


def _met(
    before: tuple[Card, Standing] | None, recall: Recall, at: datetime
) -> tuple[Card, Standing]:
    card, met, lapses = Card(card_id=0, due=at), 0, 0
    if before is not None:
        card, met, lapses = before[0], before[1].met, before[1].lapses
    # A clock that was set back would make the time since the last meeting negative.
    at = at if card.last_review is None else max(at, card.last_review)
    card, _ = _scheduler().review_card(card, Rating(recall), at)
    standing = Standing(
        due=card.due,
        last=at,
        stability=card.stability or 0.0,
        met=met + 1,
        lapses=lapses + (recall is Recall.AGAIN),
    )
    return card, standing


@cache
def _scheduler() -> Scheduler:
    """Return FSRS with its published weights, days alone: within a set, wrong ones come back."""
    return Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())
