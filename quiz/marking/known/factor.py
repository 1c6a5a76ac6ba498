"""A factor: a plain number, and the same upside down told apart."""

from dataclasses import replace
from fractions import Fraction

from problems.answers.factor import FactorAnswer
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.marking.marker import Marker
from quiz.marking.nearness import credit
from quiz.marking.numbers import mark_number
from quiz.marking.verdict import UPSIDE_DOWN, Verdict


def _mark(problem: Problem, answer: FactorAnswer, text: str) -> Verdict | Unreadable:
    marked = mark_number(problem, answer.number, text)
    if isinstance(marked, Unreadable) or marked.score or marked.mistake:
        return marked
    if not isinstance(marked.parsed, Fraction):
        return marked
    if not credit(marked.parsed * answer.value, Fraction(1), "count"):
        return marked
    says = "This is the factor upside down: one over it is right."
    return replace(marked, mistake=UPSIDE_DOWN, feedback=f"{marked.feedback} {says}")


MARKER = Marker(
    of=FactorAnswer,
    mark=_mark,
    forms=lambda _: ("4", "1/4", "2 * 2"),
    names=lambda *_: (UPSIDE_DOWN,),
)
