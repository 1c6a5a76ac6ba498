"""A learner's level on a scale from junior to senior, with how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from problems.problem import Level
from quiz.history.store import Answered
from quiz.schedule.skill import Skill, skills

LEVELS: tuple[str, ...] = get_args(Level)
# Half a level further than the first and the last one.
LOWEST, HIGHEST = -0.5, len(LEVELS) - 0.5
# Nearer than that it is the level, else it lies between two.
NEAR = 0.25
# Wider than that, it is hardly known.
WIDE = 1.0


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A level: 0 is junior, 1 mid, 2 senior; it lies from `low` to `high` two times in three."""

    at: float
    low: float
    high: float

    @property
    def is_vague(self) -> bool:
        """Whether too few answers were given to know it."""
        return self.high - self.low > WIDE

    @property
    def said(self) -> str:
        """The level in words: "between junior and mid"."""
        nearest = min(max(round(self.at), 0), len(LEVELS) - 1)
        if abs(self.at - nearest) <= NEAR:
            return f"about {LEVELS[nearest]}"
        if self.at < 0:
            return f"below {LEVELS[0]}"
        if self.at > len(LEVELS) - 1:
            return f"above {LEVELS[-1]}"
        return f"between {LEVELS[int(self.at)]} and {LEVELS[int(self.at) + 1]}"


def estimates(answered: Sequence[Answered]) -> Mapping[str, Estimate]:
    """Return the level in each topic that has answers."""
    found = skills(answered).items()
    return {topic: _estimate(skill) for topic, skill in found if skill.answers}


def _estimate(skill: Skill) -> Estimate:
    return Estimate(
        at=skill.mean, low=skill.mean - skill.deviation, high=skill.mean + skill.deviation
    )
