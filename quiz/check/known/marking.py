"""What is right earns all, what is nonsense earns nothing, and a mistake is traced to its name."""

import re
from collections.abc import Iterator
from fractions import Fraction

from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from problems.answers.answer import FULL_CREDIT
from problems.answers.claim import ClaimAnswer
from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.check.rule import Flaw, each_problem
from problems.check.texts import cut
from problems.mistakes import share_of
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.marking.diagnosis import explained
from quiz.marking.nearness import slip

# What nobody means as an answer: no word, no number, a unit of something else, half a bracket.
NONSENSE = ("?!", "qwertz uiop", "12 parsecs", "(3")
UNITS = {
    "TB": TB, "GB": GB, "MB": MB, "kB": KB, "TiB": TIB, "GiB": GIB, "MiB": MIB, "KiB": KIB,
    "T": TB, "B": GB, "M": MB, "": 1,
}  # fmt: skip
LAST_NUMBER = re.compile(
    rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?({'|'.join(filter(None, UNITS))})?(?![\w.])"
)
# A quarter of the band of a count is left to the person's own rounding.
ON_PAPER = Fraction(3, 200)


@each_problem("right-earns-all")
def the_right_answer_earns_all(problem: Problem) -> Iterator[Flaw]:
    """The right answer, typed as the program says it, earns all of the credit."""
    if isinstance(problem.answer, ClaimAnswer):
        return  # its reason is marked by its points, of which the core is one
    said = problem.answer.said
    verdict = grade(problem, said)
    if isinstance(verdict, Unreadable):
        what = f"{cut(said)} cannot be read: {verdict.reason}"
        yield Flaw("answer", what, "mend `said`, or what reads it")
    elif verdict.score != 1:
        what = f"{cut(said)} earns {verdict.score}"
        yield Flaw("answer", what, "mend `said`, or what marks it")


@each_problem("nonsense-refused")
def nonsense_is_refused(problem: Problem) -> Iterator[Flaw]:
    """What is no answer cannot be read, or earns nothing, and the reason says what to type."""
    for typed in NONSENSE:
        verdict = grade(problem, typed)
        if isinstance(verdict, Unreadable):
            if not 0 <= verdict.offset <= len(typed) or not verdict.reason.strip():
                yield Flaw("answer", f"{typed!r} is refused without a reason", "say what to type")
        elif verdict.score:
            yield Flaw("answer", f"{typed!r} earns {verdict.score}", "refuse it")


@each_problem("mistakes-traced")
def mistakes_are_traced(problem: Problem) -> Iterator[Flaw]:
    """A mistake's own number, to three digits, is traced to it and earns its share."""
    if problem.answer.number is None:
        return
    for mistake in problem.mistakes:
        typed = Fraction(f"{float(mistake.value):.3g}")
        found = explained(problem, typed)
        where, what = f"mistake {mistake.name!r}", ""
        # With a GiB said as GB as near, none is named, and that is meant.
        if found is None and slip(typed, problem.answer.number.value) is None:
            what = f"{float(mistake.value):.3g} is traced to nothing"
        elif found is not None and (found.name, found.share) != (mistake.name, share_of(mistake)):
            what = f"{float(mistake.value):.3g} is traced to {found.name!r} for {found.share}"
        if what:
            yield Flaw(where, what, "keep the likelier of two that are near")


@each_problem("paper-earns-all")
def the_answer_on_paper_earns_all(problem: Problem) -> Iterator[Flaw]:
    """The last number of the whiteboard steps earns all of the credit."""
    asked = _asked(problem)
    steps = [step.text for step in problem.solution if step.depth == "whiteboard"]
    if asked is None or not steps:
        return
    value, within = asked
    numbers = LAST_NUMBER.findall(steps[-1])
    said = Fraction(numbers[-1][0].replace(",", "")) * UNITS[numbers[-1][1]] if numbers else None
    if said is None or abs(said - value) > within * value:
        what = f"{cut(steps[-1][-50:])} does not come to the answer, {problem.answer.said}"
        yield Flaw("whiteboard", what, "end with the answer on rounded numbers")


def _asked(problem: Problem) -> tuple[Fraction, Fraction] | None:
    """Return the number that is asked for, and how near to it paper has to come."""
    if isinstance(problem.answer, CountAnswer):
        return Fraction(problem.answer.value), Fraction(0)
    asked = problem.answer.number
    if asked is None:
        return None
    narrow = asked.band == "count" or isinstance(problem.answer, FactorAnswer)
    return asked.value, ON_PAPER if narrow else FULL_CREDIT[asked.band]
