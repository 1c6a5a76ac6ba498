"""Problems that ask for a whole number of things."""

import re
from collections.abc import Iterator

from problems.answers.count import CountAnswer
from problems.check.rule import Flaw, each_answer
from problems.check.texts import other_end
from problems.problem import Problem
from problems.wording import number


@each_answer("count-unit", CountAnswer)
def prompts_ask_for_a_whole_number(problem: Problem, answer: CountAnswer) -> Iterator[Flaw]:
    """A prompt says that a whole number is wanted, and of what."""
    of = f" of {answer.noun}" if answer.noun else "."
    if f"whole number{of}" not in problem.prompt:
        yield Flaw("prompt", "does not ask for a whole number", f'say "whole number{of}"')


@each_answer("count-ends", CountAnswer)
def solutions_end_with_the_count(problem: Problem, answer: CountAnswer) -> Iterator[Flaw]:
    """The last step of a solution ends with the count."""
    yield from other_end(problem, number(answer.value))


@each_answer("count-hints-tell", CountAnswer)
def hints_do_not_give_the_count(problem: Problem, answer: CountAnswer) -> Iterator[Flaw]:
    """No hint has the count with what is counted."""
    noun = answer.noun
    said = f"{number(answer.value)} {noun}"
    for place, hint in enumerate(problem.hints, 1):
        if noun and re.search(rf"(?<![\w.,]){re.escape(said)}", hint):
            yield Flaw(f"hint {place}", f"gives the answer, {said}", "stop one step before it")
