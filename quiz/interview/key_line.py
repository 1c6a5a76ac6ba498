"""The line of keys under a question of an interview: those that do something now."""

from collections.abc import Iterator

from quiz.interview.sitting import Sitting
from quiz.practice.key_line import Key
from quiz.practice.session import symbol_of


def of_question(sitting: Sitting) -> tuple[Key, ...]:
    """Return the keys under the question that is asked now.

    A key that is a symbol in the answer, or the letter of a choice, stands as its word.
    """
    problem = sitting.question.problem
    return tuple(
        Key(key="" if problem and symbol_of(key, problem) else key, word=word, says=says)
        for key, word, says in _working(sitting)
    )


def _working(sitting: Sitting) -> Iterator[tuple[str, str, str]]:
    problem = sitting.question.problem
    yield "enter", "enter", "next"
    if problem is not None and sitting.exchange.hints < len(problem.hints):
        yield "h", "hint", "hint"
    if problem is not None:
        yield "r", "reading", "reading"
    yield "s", "skip", "skip"
    if sitting.can_undo:
        yield "u", "undo", "undo"
    yield from (("p", "pause", "pause"), ("q", "stop", "stop"), ("?", "help", "help"))
