"""Puts a report together: marks, and what was asked for beside them."""

from collections.abc import Iterator
from fractions import Fraction

from quiz.classes.answers import Answers, Unused
from quiz.classes.marking import Marker, mark, problems_asked
from quiz.classes.moved import moved, not_before
from quiz.classes.report import Regraded, Report
from quiz.classes.today import compared_today
from quiz.marking.verdict import Verdict
from quiz.release import VERSION
from quiz.sets.problem_set import ProblemSet
from quiz.sets.stress import inside


def report_of(
    problems: ProblemSet,
    answers: Answers,
    *,
    before: tuple[ProblemSet, Answers] | None = None,
    today: bool = False,
    passing: Fraction | None = None,
) -> Report:
    """Return the report on a class.

    Args:
        problems: the key.
        answers: what was handed in.
        before: another key, and the same file as it is read by that one.
        today: whether the problems are made anew and compared though the version is today's.
        passing: the share of the points that passes.
    """
    marked = mark(problems, answers)
    regraded = None
    if before is not None:
        old = mark(*before)
        regraded = Regraded(moved=moved(old, marked), unknown=not_before(old, marked))
    asked = today or problems.version != VERSION
    return Report(
        marked=marked,
        regraded=regraded,
        today=compared_today(problems) if asked else None,
        passing=passing,
        key_notes=tuple(inside(problems)),
        again=tuple(_again(problems, answers)),
    )


def _again(problems: ProblemSet, answers: Answers) -> Iterator[tuple[Unused, Fraction]]:
    """Yield answers in whose place a later one counts, with the points that they would have."""
    asked, marker = problems_asked(problems), Marker()
    for one in answers.unused:
        points = Fraction(0)
        for student, at, text in one.again:
            problem = asked[student if problems.is_personal else ""][at]
            found = marker.marked(problem, text) if text else None
            if isinstance(found, Verdict):
                points += problems.slots[at].points * found.score
        if one.again:
            yield one, points
