"""Only mistakes that a number can reveal are kept."""

from fractions import Fraction

import pytest

from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.problem import Mistake
from problems.telling import telling

GB = QuantityAnswer(value=Fraction(100))
ESTIMATE = QuantityAnswer(value=Fraction(100), band="estimate")


def mistakes(*values):
    return tuple(
        Mistake(name=f"mistake {n}", value=Fraction(value), feedback="")
        for n, value in enumerate(values)
    )


@pytest.mark.parametrize(
    ("answer", "values", "kept"),
    [
        (GB, (50, 75), (50, 75)),
        (GB, (101, 99, 98, 102), ()),
        (GB, (Fraction("102.1"), Fraction("97.9")), (Fraction("102.1"), Fraction("97.9"))),
        (GB, (0, -5), ()),
        (GB, (50, 51), (50,)),
        (GB, (50, Fraction("51.6")), (50, Fraction("51.6"))),
        (GB, (51, 50, Fraction("49.4")), (51, Fraction("49.4"))),
        (ESTIMATE, (86, 114, 80, 120), (80, 120)),
        (YesNoAnswer(value=True, proof=ESTIMATE), (90, 50), (50,)),
        (CountAnswer(value=40, noun="GPUs"), (40, 41, 39, 41), (41, 39)),
        (FactorAnswer(value=Fraction(1)), (1, 2, Fraction(1, 2)), (2, Fraction(1, 2))),
    ],
)
def test_kept_are_values_apart_from_the_answer_and_from_each_other(answer, values, kept):
    assert tuple(mistake.value for mistake in telling(answer, mistakes(*values))) == kept
