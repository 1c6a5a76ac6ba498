"""Hints and solutions lead to the answer, from what is quick to what is exact."""

from collections.abc import Iterator

from problems.check.rule import Flaw, each_problem
from problems.problem import Problem

HINTS = 3


@each_problem("hints")
def there_are_three_hints(problem: Problem) -> Iterator[Flaw]:
    """A problem has three hints, no two the same."""
    if len(problem.hints) != HINTS:
        yield Flaw("hints", f"there are {len(problem.hints)}", f"give {HINTS}")
    if len(set(problem.hints)) != len(problem.hints):
        yield Flaw("hints", "two are the same", "let each say more than the one before")


@each_problem("depths")
def solutions_begin_on_the_whiteboard(problem: Problem) -> Iterator[Flaw]:
    """A solution begins with steps for the whiteboard and ends with exact ones."""
    depths = [step.depth for step in problem.solution]
    for depth in ("whiteboard", "exact"):
        if depth not in depths:
            yield Flaw("solution", f"has no {depth} step", f'give one with depth="{depth}"')
    if depths != sorted(depths, reverse=True):
        yield Flaw("solution", "a whiteboard step comes behind an exact one", "put it before")
