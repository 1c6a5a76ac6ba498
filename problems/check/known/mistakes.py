"""Mistakes can be told from the answer and from each other, and say what went wrong."""

import re
from collections.abc import Iterator
from itertools import combinations

from problems.answers.count import CountAnswer
from problems.check.rule import FEW, Flaw, Series, each_kind, each_problem
from problems.check.texts import cut
from problems.mistakes import mistakes
from problems.problem import Problem

JUDGING = re.compile(r"good|great|sorry|unfortunately|!|wrong", re.IGNORECASE)
# A number is traced to one of two mistakes or more, in nine problems of ten.
FEWEST, SHARE = 2, 90


@each_problem("mistakes-differ")
def mistakes_differ_from_the_answer_and_each_other(problem: Problem) -> Iterator[Flaw]:
    """A mistake's number earns less than all and is that of no other; its name is its own."""
    for mistake in problem.mistakes:
        where = f"mistake {mistake.name!r}"
        answer = problem.answer.part(mistake.term)
        if mistake.value <= 0:
            yield Flaw(where, f"gives {float(mistake.value):g}", "leave it out in such a case")
        elif not answer.tells(mistake.value):
            what = f"{float(mistake.value):g} earns all, as the answer does"
            yield Flaw(where, what, "leave it out, or narrow the band")
    for one, other in combinations(problem.mistakes, 2):
        if one.term != other.term:
            continue
        where = f"mistakes {one.name!r} and {other.name!r}"
        if one.name == other.name:
            yield Flaw(where, "have the same name", "name what sets them apart")
        if not problem.answer.part(one.term).apart(other.value, one.value):
            what = f"give {float(one.value):g} and {float(other.value):g}, which is the same"
            yield Flaw(where, what, "keep the likelier one")


@each_problem("mistakes-known")
def mistakes_are_known_by_name(problem: Problem) -> Iterator[Flaw]:
    """Every mistake has its share of the credit in the table of mistakes."""
    for mistake in problem.mistakes:
        if mistake.name not in mistakes():
            what = "is not in the table of mistakes"
            yield Flaw(f"mistake {mistake.name!r}", what, "give it a row in mistakes.toml")


@each_problem("feedback")
def feedback_begins_with_the_number(problem: Problem) -> Iterator[Flaw]:
    """Feedback begins with the wrong number, neither praises nor scolds."""
    for mistake in problem.mistakes:
        where = f"mistake {mistake.name!r}"
        if not re.match(r"[\d,.]+", mistake.feedback):
            yield Flaw(where, f"{cut(mistake.feedback)} begins without it", "the number first")
        if found := JUDGING.search(mistake.feedback):
            yield Flaw(where, f"says {found[0]!r}", "say what was left out, and its size")


def _asks_for_a_number(problem: Problem) -> bool:
    return problem.answer.number is not None or isinstance(problem.answer, CountAnswer)


@each_kind("two-mistakes", fewest=FEW, concerns=_asks_for_a_number)
def most_problems_have_two_mistakes(series: Series) -> Iterator[Flaw]:
    """Of problems that ask for a number nine in ten have two mistakes that tell."""
    asked = [problem for problem in series.problems if _asks_for_a_number(problem)]
    few = [problem for problem in asked if len(problem.mistakes) < FEWEST]
    if 100 * (len(asked) - len(few)) < SHARE * len(asked):
        what = f"{len(few)} of {len(asked)} problems have fewer than {FEWEST} that tell"
        yield Flaw("mistakes", what, "add likely ones", seed=few[0].seed)
