"""One quantity over several rows, and the same rows from the last to the first told apart."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from problems.answers.table import TableAnswer
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.marking.marker import Marker
from quiz.marking.terms import (
    LINES,
    LONGEST_TERMS,
    mark_terms,
    request_terms,
    terms_forms,
    terms_slips,
)
from quiz.marking.verdict import UPSIDE_DOWN, Verdict


def _mark(problem: Problem, answer: TableAnswer, text: str) -> Verdict | Unreadable:
    marked = mark_terms(problem, answer, text)
    if isinstance(marked, Unreadable) or marked.score == 1 or not _is_upside_down(answer, marked):
        return marked
    says = f"These are the right numbers from the last of the {answer.over} to the first."
    right = f"{marked.feedback.partition(': ')[0]}: {answer.said}."
    return replace(marked, mistake=UPSIDE_DOWN, feedback=f"{right} {says}")


def _is_upside_down(answer: TableAnswer, marked: Verdict) -> bool:
    if not isinstance(marked.parsed, Mapping):
        return False
    turned = zip(answer.terms, reversed([*marked.parsed.values()]), strict=True)
    return all(isinstance(number, Fraction) and term.is_right(number) for term, number in turned)


MARKER = Marker(
    of=TableAnswer,
    mark=_mark,
    longest=LONGEST_TERMS,
    request=request_terms,
    halves=LINES,
    forms=terms_forms,
    names=lambda problem, answer: (*terms_slips(problem, answer), UPSIDE_DOWN),
)
