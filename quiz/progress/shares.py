"""Shares of the credit: lately and before, by topic and by level."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from problems.problem import Level
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import LABELS

LATELY = 20
# Fewer say nothing of a trend.
FEWEST = 5


@dataclass(frozen=True, kw_only=True)
class Share:
    """Of questions: how many there were and what they earned, as a share of the credit.

    Args:
        questions: ever; those that were skipped or whose solution was shown are among them, as 0.
        lately: of the last 20, or of all where they are fewer; None where there is none.
        before: of the 20 before those; None where there are fewer than 5.
    """

    questions: int
    lately: Fraction | None
    before: Fraction | None


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What answers at one level took.

    Args:
        level: None is that of answers which an older version kept without one.
        answers: typed ones; what was skipped or shown is not counted.
        seconds: the median, since a pause would spoil a mean.
        hints: asked for in all.
        share: of the credit, all answers together.
    """

    level: Level | None
    answers: int
    seconds: float
    hints: int
    share: Fraction


def share(attempts: Sequence[Attempt]) -> Share:
    """Return the shares of attempts that are in the order in which they were made."""
    scores = [attempt.score for attempt in attempts]
    before = scores[-2 * LATELY : -LATELY]
    return Share(
        questions=len(scores),
        lately=mean(scores[-LATELY:]),
        before=mean(before) if len(before) >= FEWEST else None,
    )


def mean(scores: Sequence[Fraction]) -> Fraction | None:
    """Return the mean; None of nothing."""
    return sum(scores, Fraction(0)) / len(scores) if scores else None


def typed(attempt: Attempt) -> bool:
    """Say whether it is an answer, not a question that was passed over."""
    return attempt.verdict.verdict in LABELS


def effort(attempts: Sequence[Attempt]) -> tuple[Effort, ...]:
    """Return what answers took, by level, those without one last."""
    levels: tuple[Level | None, ...] = ("junior", "mid", "senior", None)
    found = []
    for level in levels:
        of_level = [one for one in attempts if one.level == level and typed(one)]
        earned = mean([one.score for one in of_level])
        if earned is not None:
            found.append(
                Effort(
                    level=level,
                    answers=len(of_level),
                    seconds=median(one.seconds for one in of_level),
                    hints=sum(one.hints for one in of_level),
                    share=earned,
                )
            )
    return tuple(found)
