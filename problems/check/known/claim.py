"""Problems that ask whether a claim is true, and why."""

import re
from collections.abc import Iterator, Sequence

from problems.answers.claim import ClaimAnswer
from problems.check.balance import unbalanced
from problems.check.rule import Flaw, all_answers, each_answer
from problems.problem import Problem

VERDICT = re.compile(r"\b(?:true|false|right|wrong)\b", re.IGNORECASE)


@each_answer("claim-hints-tell", ClaimAnswer)
def hints_do_not_give_the_answer(problem: Problem, answer: ClaimAnswer) -> Iterator[Flaw]:
    """No hint has the verdict, or the reason in its own words."""
    for place, hint in enumerate(problem.hints, 1):
        if VERDICT.search(hint):
            yield Flaw(f"hint {place}", "gives the verdict", "stop one step before it")
        if answer.core.rstrip(".") in hint:
            yield Flaw(f"hint {place}", "gives the reason", "stop one step before it")


@all_answers("claims-balance", ClaimAnswer, may_be_broken=True)
def claims_are_true_half_of_the_time(found: Sequence[ClaimAnswer]) -> Iterator[Flaw]:
    """Of the claims that are put, 40 to 60% are true."""
    yield from unbalanced("true", sum(answer.truth for answer in found), len(found))
