"""What marking gives, in one shape for every type of answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from quiz.marking.parsed import Parsed, plain

Mark = Literal["correct", "partial", "wrong", "skipped", "shown"]
# How the remark begins that another label was as good as given.
CLOSE_CALL = "a close call"
# The mistake of who has an order, a factor or rows the wrong way round.
UPSIDE_DOWN = "upside down"
# Between the names of two mistakes that were made at once.
BOTH = " and "
# What the label of an answer in words is worth, whoever gave it.
LABELS: Mapping[Mark, Fraction] = {
    "correct": Fraction(1),
    "partial": Fraction(1, 2),
    "wrong": Fraction(0),
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A marked answer.

    Args:
        problem: the problem's id.
        answer: what was typed.
        parsed: the answer as understood: a number in the unit of the answer, {yes, number}, an
            order as groups of keys, terms by name; None where nothing was.
        score: from 0 to 1.
        verdict: the score as a word; "skipped" and "shown" are questions that were not answered.
        mistake: the name of the mistake that gives this number, where one does.
        feedback: the reference first, then what went wrong or how the range fared.
        held: whether the range that was typed holds the reference; None where none was typed.
        reading: how the answer was read, such as "37 GB = 37.0e9 bytes = 34.46 GiB".
        remarks: what was assumed in reading it.
    """

    problem: str
    answer: str
    parsed: Parsed = None
    score: Fraction
    verdict: Mark
    mistake: str | None = None
    feedback: str
    held: bool | None = None
    reading: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def as_json(self) -> dict[str, Any]:
        """The verdict as plain values."""
        return {
            "problem": self.problem,
            "answer": self.answer,
            "parsed": plain(self.parsed),
            "score": float(self.score),
            "verdict": self.verdict,
            "mistake": self.mistake,
            "feedback": self.feedback,
        }


def mark_of(score: Fraction) -> Mark:
    """Return the word for a score."""
    if score == 1:
        return "correct"
    return "partial" if score else "wrong"


def opening(score: Fraction) -> str:
    """Return how feedback on an answer with this score begins."""
    if score == 1:
        return "Right: "
    return "In part: " if score else "Not quite: "
