"""Which mistakes an answer to a question could be traced to."""

from collections.abc import Iterator

from problems.problem import Problem
from quiz.marking.diagnosis import slip_names
from quiz.marking.registry import marker_of


def could_tell(problem: Problem) -> tuple[str, ...]:
    """Return the names of the mistakes that a wrong answer to `problem` may be given.

    A mistake whose answer others give as well is not among them: it is never named. Where two
    are made at once, each of them is.
    """
    return tuple(dict.fromkeys(_told(problem)))


def _told(problem: Problem) -> Iterator[str]:
    answer = problem.answer
    yield from (mistake.name for mistake in problem.mistakes if not mistake.also)
    if answer.number is not None:
        yield from slip_names(problem, answer.number)
    names = marker_of(answer).names
    yield from () if names is None else names(problem, answer)
