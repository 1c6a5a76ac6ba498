"""Problems that ask for one of a few things."""

import re
from collections.abc import Iterator, Sequence

from problems.answers.choice import ChoiceAnswer
from problems.check.rule import Flaw, all_answers, each_answer
from problems.check.texts import cut, other_end
from problems.problem import Problem

FEEDBACK, FEWEST = (10, 180), 4
# Of the problems; the same place or the same thing more often can be guessed.
MOST = 60


@each_answer("choice-ends", ChoiceAnswer)
def solutions_end_with_the_pick(problem: Problem, answer: ChoiceAnswer) -> Iterator[Flaw]:
    """The last step of a solution ends with the name of the right one."""
    name = answer.right.item.name
    yield from other_end(problem, f": {name}")


@each_answer("choice-feedback", ChoiceAnswer)
def each_pick_is_told_with_its_numbers(problem: Problem, answer: ChoiceAnswer) -> Iterator[Flaw]:
    """Each choice says in 10 to 180 characters why; with its number where there is a scenario."""
    fewest, most = FEEDBACK
    for choice in answer.choices:
        where = f"choice {choice.item.key}"
        if problem.scenario is not None and not re.search(r"\d", choice.feedback):
            yield Flaw(where, f"{cut(choice.feedback)} has no number", "give its size")
        if not fewest <= len(choice.feedback) <= most:
            what = f"{len(choice.feedback)} characters, not {fewest} to {most}"
            yield Flaw(where, what, "one or two short sentences")


@all_answers("choices-vary", ChoiceAnswer, may_be_broken=True)
def what_is_right_changes_from_seed_to_seed(found: Sequence[ChoiceAnswer]) -> Iterator[Flaw]:
    """The right one has many names and stands at many places, none of them too often."""
    for what, said in (
        ("places", [answer.right.item.key for answer in found]),
        ("names", [answer.right.item.name for answer in found]),
    ):
        fewest = min(FEWEST, *(len(answer.choices) for answer in found))
        if len(set(said)) < fewest:
            yield Flaw("answers", f"the right one has {len(set(said))} {what}", "shuffle, or add")
        most = max(set(said), key=said.count)
        if 100 * said.count(most) > MOST * len(said):
            told = f"{most!r} is right in {said.count(most)} of {len(said)}"
            yield Flaw("answers", told, f"keep below {MOST}%")
