"""Problems that ask for an order."""

from collections.abc import Iterator, Sequence

from problems.answers.ranking import RankingAnswer
from problems.check.rule import Flaw, all_answers, each_answer
from problems.check.texts import other_end
from problems.problem import Problem

LENGTHS, FIRSTS = frozenset({4, 5, 6}), 5


@each_answer("order-stated", RankingAnswer)
def prompts_say_which_comes_first_and_what_ties(
    problem: Problem, answer: RankingAnswer
) -> Iterator[Flaw]:
    """A prompt says which comes first and how near is a tie."""
    words = (f"the {answer.first} first", "within 5 points of a percent tie")
    for said in words:
        if said not in problem.prompt:
            yield Flaw("prompt", f"does not say {said!r}", f'say "{said}"')


@each_answer("order-ends", RankingAnswer)
def solutions_end_with_the_order(problem: Problem, answer: RankingAnswer) -> Iterator[Flaw]:
    """The last step of a solution ends with the order."""
    yield from other_end(problem, f": {answer.said}")


@each_answer("order-hints-tell", RankingAnswer)
def hints_do_not_give_the_order(problem: Problem, answer: RankingAnswer) -> Iterator[Flaw]:
    """No hint has the whole order."""
    for place, hint in enumerate(problem.hints, 1):
        if answer.said in hint:
            yield Flaw(f"hint {place}", "gives the order", "stop one step before it")


@all_answers("orders-vary", RankingAnswer)
def orders_are_of_many_lengths_and_first_places(found: Sequence[RankingAnswer]) -> Iterator[Flaw]:
    """Orders are of several lengths, and no thing comes first too often."""
    if missing := sorted(LENGTHS - {len(answer.items) for answer in found}):
        yield Flaw("answers", f"no order is of {missing[0]} things", "draw their number")
    firsts = {answer.item(answer.order[0][0]).name for answer in found}
    if len(firsts) < FIRSTS:
        what = f"only {len(firsts)} things ever come first"
        yield Flaw("answers", what, "draw runs that favour others")
