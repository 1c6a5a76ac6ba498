"""How long a question takes: reading, and the work that its type of answer is.

The minutes of work are assumed, not measured: what a person who knows how needs on paper. The
time that a class took is better evidence, and `minutes` of a part in a blueprint says so.
"""

from collections.abc import Mapping
from fractions import Fraction

from problems.check.known.texts import CHARACTERS_A_SECOND
from problems.problem import Level, Problem

MINUTE = 60
# By type of answer, at mid level; what is not named takes as long as a number.
WORK: Mapping[str, Fraction] = {
    "choice": Fraction(2),
    "claim": Fraction(2),
    "ranking": Fraction(3),
    "ledger": Fraction(5),
    "table": Fraction(5),
    "checklist": Fraction(4),
    "conditions": Fraction(6),
}
NUMBER = Fraction(3)
TIMES: Mapping[Level, Fraction] = {
    "junior": Fraction(3, 4),
    "mid": Fraction(1),
    "senior": Fraction(3, 2),
}


def minutes_of(problem: Problem) -> Fraction:
    """Return the estimated minutes of a problem, in halves, rounded up."""
    read = Fraction(len(problem.prompt) + len(problem.exhibit), CHARACTERS_A_SECOND * MINUTE)
    work = WORK.get(problem.answer.type, NUMBER) * TIMES[problem.level]
    return Fraction(-(-(read + work) * 2 // 1), 2)
