"""An answered question, as a set of them and a history of them hold it."""

from dataclasses import dataclass
from fractions import Fraction

from quiz.marking.verdict import LABELS, Mark, Verdict


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An answered question: what it was about, how it was marked, what it took.

    `own` is the learner's own mark, where one was put in the place of the program's.
    """

    topic: str
    verdict: Verdict
    hints: int
    seconds: float
    own: Mark | None = None

    @property
    def score(self) -> Fraction:
        """What counts: the learner's own mark where there is one."""
        return self.verdict.score if self.own is None else LABELS[self.own]
