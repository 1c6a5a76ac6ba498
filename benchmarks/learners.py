#!/usr/bin/env python3
"""Simulated learners with known gaps: how many are found out by 30 questions.

    python3 bootstrap.py python benchmarks/learners.py [LEARNERS]

Each question is chosen by the answers before it. A learner has a level in all topics but two, and
another one there. Right are 95% of the questions a level or more below the learner, 70% at the
level, 24% one above, 5% two above and 1% beyond. Found out is who has, at the end, the two lowest
estimates in the two topics.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from problems.draw import Draw
from problems.problem import TOPICS, Level
from problems.registry import kinds
from quiz.history.store import Answered
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Verdict, mark_of
from quiz.schedule.choosing import Wanted, chosen_next
from quiz.schedule.skill import LEVELS, skills

QUESTIONS = 30
LEARNERS = 400
SHARES = ((1, 95), (0, 70), (-1, 24), (-2, 5))
BEYOND = 1
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
# Levels of the gaps and of all else: below junior and senior, junior and senior, …
CASES = ((-1, 2), (-1, 1), (0, 2), (1, 2))

ScoreOf = Callable[[str, Level], int]


def learner(seed: int, gap: int, rest: int) -> tuple[set[str], ScoreOf]:
    """Return the two topics in which a learner has gaps, and what gives a score by chance."""
    draw = Draw("simulated learner", seed)
    gaps = set(draw.sample(sorted(TOPICS), 2))

    def score_of(topic: str, level: Level) -> int:
        above = (gap if topic in gaps else rest) - LEVELS[level]
        share = next((share for least, share in SHARES if above >= least), BEYOND)
        return int(draw.chance(share))

    return gaps, score_of


def practised(seed: int, score_of: ScoreOf) -> tuple[Answered, ...]:
    """Return the answers to `QUESTIONS` questions, each chosen by the answers before it."""
    every = tuple(kinds().values())
    answers: tuple[Answered, ...] = ()
    for number in range(QUESTIONS):
        asked = tuple(one.attempt.verdict.problem for one in answers)
        wanted = Wanted(fitting=every, level=None, seed=seed, asked=asked)
        problem = chosen_next(wanted, answers)
        at = START + timedelta(minutes=number)
        answers += (Answered(at=at, attempt=_attempt(problem, score_of)),)
    return answers


def found_out(learners: int, gap: int, rest: int) -> int:
    """Return how many of `learners` have their gaps as the two lowest estimates."""
    found = 0
    for seed in range(learners):
        gaps, score_of = learner(seed, gap, rest)
        estimates = skills(practised(seed, score_of))
        found += set(sorted(TOPICS, key=lambda topic: estimates[topic].mean)[:2]) == gaps
    return found


def main() -> None:
    """Print the share that is found out for each pair of levels."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else LEARNERS
    for gap, rest in CASES:
        found = found_out(number, gap, rest)
        sys.stdout.write(f"level {gap} in two topics, {rest} elsewhere: {found / number:.0%}\n")


def _attempt(problem: str, score_of: ScoreOf) -> Attempt:
    name, _, seed = problem.partition("@")
    kind = kinds()[name]
    level = kind.level_of(int(seed))
    score = Fraction(score_of(kind.topic, level))
    verdict = Verdict(
        problem=problem, answer="", score=score, verdict=mark_of(score), feedback="As drawn."
    )
    return Attempt(topic=kind.topic, level=level, tells=(), verdict=verdict, hints=0, seconds=60.0)


if __name__ == "__main__":
    main()
