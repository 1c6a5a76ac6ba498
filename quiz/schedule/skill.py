"""At which level a learner stands in each topic, and how sure that is.

A level is a number: 0 is junior, 1 is mid, 2 is senior. Who stands at a level earns 70% of the
credit there, 95% a level below and 24% a level above, which is a logistic curve. Of every level
from -2 to 4 it is asked how well it explains the answers; the estimate is the mean over them,
weighted by that, and its deviation is how far they spread.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log, sqrt

from problems.problem import TOPICS, Level
from quiz.history.store import Answered

LEVELS: Mapping[Level, int] = {"junior": 0, "mid": 1, "senior": 2}
GRID = tuple(step / 10 for step in range(-20, 41))
SLOPE = 2.0
# Of the credit, at one's own level.
SHARE = 0.7
# Before any answer: nearer to junior than to mid, for all topics together.
START, START_DEVIATION = 0.4, 1.0
# How far a topic lies from what is known of all together, before it has answers.
APART = 0.9
# An answer counts half once so many newer ones of its topic are there; older ones are left out.
HALF, NEWEST = 20, 120


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A learner in a topic: the estimated level, its deviation, and how many answers there are."""

    mean: float
    deviation: float
    answers: int


def skills(answered: Iterable[Answered]) -> Mapping[str, Skill]:
    """Return the skill in every topic, in the order of the topics, also where no answer is.

    Args:
        answered: every answer that stands, the oldest first. One whose level is not known counts
            as mid.
    """
    by_topic: dict[str, list[tuple[int, float]]] = {topic: [] for topic in TOPICS}
    for one in answered:
        level = LEVELS[one.attempt.level or "mid"]
        by_topic.setdefault(one.attempt.topic, []).append((level, float(one.attempt.score)))
    evidence = {topic: _evidence(rows) for topic, rows in by_topic.items()}
    together = [sum(column) for column in zip(*evidence.values(), strict=True)]
    common, _ = _estimate(together, START, START_DEVIATION)
    found = {}
    for topic, rows in by_topic.items():
        mean, deviation = _estimate(evidence[topic], common, APART)
        found[topic] = Skill(mean=mean, deviation=deviation, answers=len(rows))
    return found


def level_for(skill: Skill) -> Level:
    """Return the level nearest to a skill."""
    return min(LEVELS, key=lambda level: abs(LEVELS[level] - skill.mean))


def expected(mean: float, level: int) -> float:
    """Return the share of the credit that a learner at `mean` earns at `level`."""
    return 1 / (1 + exp(-SLOPE * (mean - level)) * (1 - SHARE) / SHARE)


def _evidence(rows: Sequence[tuple[int, float]]) -> list[float]:
    """Return, for each level of the grid, the logarithm of how likely the answers are there."""
    sums = [0.0] * len(GRID)
    for age, (level, score) in enumerate(reversed(rows[-NEWEST:])):
        weight = 0.5 ** (age / HALF)
        right, wrong = _logarithms(level)
        for place in range(len(GRID)):
            sums[place] += weight * (score * right[place] + (1 - score) * wrong[place])
    return sums


@cache
def _logarithms(level: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    shares = [expected(mean, level) for mean in GRID]
    return tuple(log(share) for share in shares), tuple(log(1 - share) for share in shares)


def _estimate(evidence: Sequence[float], centre: float, apart: float) -> tuple[float, float]:
    """Return mean and deviation over the grid, where levels near `centre` are likelier."""
    logs = [
        value - ((at - centre) / apart) ** 2 / 2 for at, value in zip(GRID, evidence, strict=True)
    ]
    weights = [exp(value - max(logs)) for value in logs]
    whole = sum(weights)
    mean = sum(at * weight for at, weight in zip(GRID, weights, strict=True)) / whole
    spread = sum((at - mean) ** 2 * w for at, w in zip(GRID, weights, strict=True)) / whole
    return mean, sqrt(spread)
