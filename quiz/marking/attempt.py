"""An answered question, as a set of them and a history of them hold it."""

from dataclasses import dataclass
from fractions import Fraction

from problems.problem import Level, kind_of
from quiz.marking.verdict import LABELS, Mark, Verdict


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An answered question: what it was about, how it was marked, what it took.

    Args:
        topic: a key of `problems.problem.TOPICS`.
        hints: how many were shown before.
        seconds: since the question was shown.
        own: the learner's own mark, where one was put in the place of the program's.
        level: at which the question was posed; None in answers of older versions.
        tells: names of the mistakes that its number could have told; None in such answers.
    """

    topic: str
    verdict: Verdict
    hints: int
    seconds: float
    own: Mark | None = None
    level: Level | None = None
    tells: tuple[str, ...] | None = None

    @property
    def kind(self) -> str:
        """The kind of question that was answered."""
        return kind_of(self.verdict.problem)

    @property
    def score(self) -> Fraction:
        """What counts: the learner's own mark where there is one."""
        return self.verdict.score if self.own is None else LABELS[self.own]
