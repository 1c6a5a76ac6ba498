"""A question as the parts build it, with what decides whether it is asked and for how long."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from engine.scenario import Scenario
from problems.answers.answer import Answer
from problems.draft import Draft
from problems.interview.points import Listened, table
from problems.interview.runs import Runs
from problems.interview.script import Aspect, Moment, Move, Picked, Point, Question, Reuse
from problems.problem import Level, Problem
from problems.registry import problem_of, tells
from problems.wording import gb, paper

LEVELS: Final[tuple[Level, ...]] = ("junior", "mid", "senior")
# (name of the point, what is said of it in this run, from which level on).
Row = tuple[str, str, Level]


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A question, and when it is asked.

    Args:
        takes: minutes.
        turn: its turn among those that are asked if there is time; 0 is always asked.
        levels: those who are asked.
    """

    question: Question
    takes: int = 2
    turn: int = 0
    levels: tuple[Level, ...] = LEVELS


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What every part of an interview is built from."""

    level: Level
    seed: int
    runs: Runs

    @property
    def scenario(self) -> Scenario:
        """The run at first."""
        return self.runs.base.scenario

    def problem(self, key: str, topic: str, draft: Draft, scenario: Scenario) -> Problem | None:
        """Return a draft as a problem of this interview, None where it tells too little."""
        if not tells(draft) or _is_in_a_hint(draft):
            return None
        told = replace(draft, scenario=scenario)
        return problem_of(
            told, kind=f"interview-{key}", topic=topic, level=self.level, seed=self.seed
        )

    def number(  # noqa: PLR0913 - a question has as many parts
        self,
        key: str,
        topic: str,
        draft: Draft,
        *,
        says: str,
        stronger: str,
        practises: tuple[str, ...],
        scenario: Scenario | None = None,
        aspect: Aspect = "number",
        changes: str = "",
        reuses: tuple[Reuse, ...] = (),
        moves: tuple[Move, ...] = (),
        moments: tuple[Moment, ...] = (),
        picked: Picked | None = None,
    ) -> Question:
        """Return a question that is marked by rule."""
        about = scenario or self.scenario
        return Question(
            key=key,
            aspect=aspect,
            says=says,
            scenario=about,
            problem=self.problem(key, topic, draft, about),
            changes=changes,
            reuses=reuses,
            moves=moves,
            moments=moments,
            picked=picked,
            stronger=stronger,
            practises=practises,
        )


def _is_in_a_hint(draft: Draft) -> bool:
    """Return whether one of the terms that a hint tells is all of the answer, on paper."""
    asked = draft.answer.number
    if asked is None or asked.default_unit != "GB":
        return False
    said = (gb(asked.value), paper(asked.value))
    return any(one in hint for one in said for hint in draft.hints)


def items_said(answer: Answer) -> str:
    """Return what may be picked or put in order, in a line: "a ZeRO-1 · b full recompute"."""
    return " · ".join(f"{key} {name}" for key, name in answer.alone.items())


def points(listened: Listened, rows: Iterable[Row]) -> tuple[Point, ...]:
    """Return points of the table that are listened for in such a question.

    Raises:
        KeyError: the table has no such point.
        ValueError: it is listened for elsewhere only.
    """
    found = tuple(rows)
    if elsewhere := [name for name, _, _ in found if listened not in table()[name].aspects]:
        message = f"no points of {listened}: {', '.join(elsewhere)}"
        raise ValueError(message)
    return tuple(Point(name=name, says=says, level=level) for name, says, level in found)
