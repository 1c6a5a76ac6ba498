"""Problems that ask for yes or no."""

from collections.abc import Iterator, Sequence

from problems.answers.yes_no import YesNoAnswer
from problems.check.balance import unbalanced
from problems.check.rule import Flaw, all_answers


@all_answers("yes-balance", YesNoAnswer)
def half_of_the_answers_are_yes(found: Sequence[YesNoAnswer]) -> Iterator[Flaw]:
    """Of the answers 40 to 60% are yes."""
    yield from unbalanced("yes", sum(answer.value for answer in found), len(found))
