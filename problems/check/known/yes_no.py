"""Problems that ask for yes or no."""

from collections.abc import Iterator

from problems.answers.yes_no import YesNoAnswer
from problems.check.balance import unbalanced
from problems.check.rule import FEW, Flaw, Series, each_kind
from problems.problem import Problem


def _is_yes_or_no(problem: Problem) -> bool:
    return isinstance(problem.answer, YesNoAnswer)


@each_kind("yes-balance", fewest=FEW, concerns=_is_yes_or_no)
def half_of_the_answers_are_yes(series: Series) -> Iterator[Flaw]:
    """At each level 40 to 60% of the answers are yes."""
    for level in series.kind.levels:
        found = [
            problem.answer.value
            for problem in series.problems
            if problem.level == level and isinstance(problem.answer, YesNoAnswer)
        ]
        if found:
            yield from unbalanced(f"yes at {level} level", sum(found), len(found))
