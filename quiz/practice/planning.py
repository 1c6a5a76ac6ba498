"""What comes next in a set that adapts to its learner.

A set is planned a question at a time. It has so many new questions, and each that was answered
wrong comes back as a fresh question of the same kind: some questions later, or at the end.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, final

from problems.kind import Kind
from problems.problem import Level, kind_of
from quiz.history.store import Answered
from quiz.practice.session import Session
from quiz.schedule.choosing import Wanted, asked_again, chosen_next, overdue
from quiz.schedule.concepts import Concept, is_lapse

# Questions between a wrong answer and its return, and how often a kind returns in one set.
BETWEEN, RETURNS = 2, 2


class Planner(Protocol):
    """Who decides what is asked. A set without one has all of its questions from the beginning."""

    def promised(self, session: Session) -> int:
        """Return how many questions there will be, as far as the answers tell."""

    def chosen(self, session: Session) -> str:
        """Return the id of the question that goes behind those that are planned."""


@dataclass(frozen=True, kw_only=True)
class Coming:
    """What is left of a set.

    Args:
        planned: how many questions are planned so far.
        new: how many of them are new.
        back: what comes back, and the place in the set from which on it does.
    """

    planned: int
    new: int
    back: tuple[tuple[Concept, int], ...]

    def whole(self, count: int) -> int:
        """Return how many questions a set with `count` new ones will have."""
        return self.planned + max(count - self.new, 0) + len(self.back)

    def returning(self, count: int) -> Concept | None:
        """Return what comes back now; None where a new question is asked."""
        ready = (concept for concept, place in self.back if place <= self.planned)
        soonest = self.back[0][0] if self.back and self.new >= count else None
        return next(ready, soonest)


def coming(session: Session) -> Coming:
    """Return what the questions and answers of a set so far leave to come back."""
    back: dict[str, tuple[Concept, int]] = {}
    times: Counter[str] = Counter()
    new = 0
    for place, problem in enumerate(session.problems):
        kind = kind_of(problem)
        new += back.pop(kind, None) is None
        answered = session.attempts[place] if place < len(session.attempts) else None
        if answered is not None and is_lapse(answered) and times[kind] < RETURNS:
            times[kind] += 1
            mistake = next(iter(answered.mistakes), None)
            back[kind] = Concept(kind=kind, mistake=mistake), place + 1 + BETWEEN
    return Coming(planned=len(session.problems), new=new, back=tuple(back.values()))


@final
@dataclass(frozen=True, kw_only=True)
class Adapting:
    """A planner that reads the learner's answers.

    Args:
        fitting: the kinds that the options leave.
        level: what was asked for; None takes the learner's.
        seed: of the set.
        count: new questions.
        due: what is asked, in this order, where the set takes what is due alone.
        answered: gives every answer that stands.
        now: gives the time, UTC.
    """

    fitting: tuple[Kind, ...]
    level: Level | None
    seed: int
    count: int
    due: tuple[Concept, ...] | None
    answered: Callable[[], Sequence[Answered]]
    now: Callable[[], datetime]

    def promised(self, session: Session) -> int:
        """Return how many questions there will be, as far as the answers tell."""
        return coming(session).whole(self.count)

    def chosen(self, session: Session) -> str:
        """Return the id of the question that goes behind those that are planned."""
        left = coming(session)
        wanted = Wanted(
            fitting=self.fitting, level=self.level, seed=self.seed, asked=session.problems
        )
        answered = self.answered()
        returning = left.returning(self.count)
        if returning is not None:
            return asked_again(wanted, returning, answered)
        if self.due is not None:
            return asked_again(wanted, self.due[left.new], answered)
        asked = wanted.kinds_asked
        waiting = [
            concept
            for concept in overdue(self.fitting, answered, self.now())
            if concept.kind not in asked
        ]
        if waiting:
            return asked_again(wanted, waiting[0], answered)
        return chosen_next(wanted, answered)


def planned(session: Session, planner: Planner | None) -> Session:
    """Return the session with the question that is asked next."""
    if planner is None or session.position < len(session.problems):
        return session
    return replace(session, problems=(*session.problems, planner.chosen(session)))


def promised(session: Session, planner: Planner | None) -> Session:
    """Return the session with what is known of its length."""
    if planner is None:
        return session
    return replace(session, promised=planner.promised(session))
