"""Problems that ask for several numbers, each with a name."""

from collections.abc import Iterator

from problems.answers.terms import TermsAnswer
from problems.check.rule import Flaw, each_answer
from problems.problem import Problem


@each_answer("terms-named", TermsAnswer)
def prompts_name_every_term(problem: Problem, answer: TermsAnswer) -> Iterator[Flaw]:
    """A prompt names every number that is asked for."""
    text = f"{problem.prompt}\n{problem.exhibit}".lower()
    for term in answer.terms:
        if not any(name.lower() in text for name in (term.name, *term.aliases)):
            yield Flaw("prompt", f"does not name {term.name!r}", "list what is asked for")


@each_answer("terms-hints-tell", TermsAnswer)
def hints_do_not_give_all_terms(problem: Problem, answer: TermsAnswer) -> Iterator[Flaw]:
    """No hint has all of the numbers that are asked for."""
    for place, hint in enumerate(problem.hints, 1):
        if answer.said in hint:
            yield Flaw(f"hint {place}", "gives all of the numbers", "stop one step before it")


@each_answer("terms-mistaken", TermsAnswer)
def mistakes_belong_to_a_term(problem: Problem, answer: TermsAnswer) -> Iterator[Flaw]:
    """Every mistake gives the number of one of the terms."""
    for mistake in problem.mistakes:
        if mistake.term not in answer.names:
            what = f"gives {mistake.term!r}, which is not asked for"
            yield Flaw(f"mistake {mistake.name!r}", what, f"one of {', '.join(answer.names)}")
