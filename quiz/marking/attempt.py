"""An answered question, as a set of them and a history of them hold it."""

from dataclasses import dataclass
from fractions import Fraction

from problems.problem import Level, kind_of
from quiz.marking.verdict import BOTH, LABELS, Mark, Verdict


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An answered question: what it was about, how it was marked, what it took.

    Args:
        topic: a key of `problems.problem.TOPICS`.
        hints: how many were shown before.
        seconds: since the question was shown.
        own: the learner's own mark, where one was put in the place of the program's.
        level: at which the question was posed; None in answers of older versions.
        tells: names of the mistakes that it could be traced to; None in such answers.
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
    def mistakes(self) -> tuple[str, ...]:
        """The mistakes that were made: none, one, or two at once.

        Where the learner's own mark stands in the place of the program's, none was.
        """
        made, told = self.verdict.mistake, self.tells or ()
        if made is None or self.own is not None:
            return ()
        if made in told:
            return (made,)
        pairs = [
            (one, made.removeprefix(one + BOTH)) for one in told if made.startswith(one + BOTH)
        ]
        whole = (pair for pair in pairs if pair[1] in told)
        # Answers of older versions do not say which slips of reading they could be traced to.
        return next(whole, pairs[0] if pairs else (made,))

    @property
    def score(self) -> Fraction:
        """What counts: the learner's own mark where there is one."""
        return self.verdict.score if self.own is None else LABELS[self.own]
