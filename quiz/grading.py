"""Marking: a typed line against a problem's answer. Knows of no terminal and of no session."""

from fractions import Fraction

from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.claims.grade import ClaimVerdict, grade_claim
from quiz.marking.diagnosis import diagnose
from quiz.marking.registry import marker_of
from quiz.marking.verdict import Verdict

__all__ = [
    "ClaimVerdict",
    "Unreadable",
    "Verdict",
    "diagnose",
    "grade",
    "grade_claim",
    "skipped",
]


def grade(problem: Problem, text: str) -> Verdict | Unreadable:
    """Mark `text`, or say where and why it cannot be read."""
    marker = marker_of(problem.answer)
    if len(text) > marker.longest:
        reason = f"type at most {marker.longest} characters"
        return Unreadable(offset=marker.longest, reason=reason)
    return marker.mark(problem, problem.answer, text)


def skipped(problem: Problem, *, shown: bool) -> Verdict:
    """Return the verdict of a question passed over, or whose solution was asked for instead."""
    said = problem.answer.said.removesuffix(".")
    return Verdict(
        problem=problem.id,
        answer="",
        score=Fraction(0),
        verdict="shown" if shown else "skipped",
        feedback=f"{'The answer' if shown else 'Skipped'}: {said}.",
    )
