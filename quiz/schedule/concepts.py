"""What is practised, never the numbers: a kind of question, and each mistake made in it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from quiz.marking.attempt import Attempt


@dataclass(frozen=True, kw_only=True)
class Concept:
    """A kind of question, by name; with a mistake, not to make it there."""

    kind: str
    mistake: str | None = None


class Recall(IntEnum):
    """How well a concept was known, with the numbers that FSRS has for it."""

    AGAIN = 1
    HARD = 2
    GOOD = 3


def recalled(attempt: Attempt, known: Iterable[Concept]) -> Iterator[tuple[Concept, Recall]]:
    """Yield what an answer says of which concepts.

    Args:
        attempt: the answer; the learner's own mark counts where there is one.
        known: the concepts there were before; of a mistake only these can be confirmed.
    """
    kind = attempt.kind
    recall = _recall(attempt)
    yield Concept(kind=kind), recall
    for mistake in attempt.mistakes:
        yield Concept(kind=kind, mistake=mistake), Recall.AGAIN
    if attempt.score != 1:
        return
    for concept in known:
        told = concept.mistake in (attempt.tells or ())
        if concept.kind == kind and concept.mistake is not None and told:
            yield concept, recall


def is_lapse(attempt: Attempt) -> bool:
    """Say whether the answer was wrong, or there was none: its question comes back."""
    return next(iter(recalled(attempt, ())))[1] is Recall.AGAIN


def _recall(attempt: Attempt) -> Recall:
    if attempt.score == 1:
        return Recall.HARD if attempt.hints else Recall.GOOD
    if attempt.score == 0 or attempt.mistakes:
        return Recall.AGAIN
    return Recall.HARD
