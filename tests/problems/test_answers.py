from fractions import Fraction

import pytest

from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.numbers import rounded
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer

GB = 10**9


@pytest.mark.parametrize(
    ("number", "digits", "shown"),
    [
        (2.5, 3, "2.5"),
        (Fraction(1029, 10), 3, "103"),
        (1029, 3, "1,030"),
        (999.9, 3, "1,000"),
        (250_012, 3, "250,000"),
        (Fraction(123_456, 7), 4, "17,640"),
        (0.125, 3, "0.125"),
        (0, 3, "0"),
    ],
)
def test_a_rounded_number_has_its_thousands_set_apart_and_no_exponent(number, digits, shown):
    assert rounded(number, digits) == shown


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (QuantityAnswer(value=Fraction(16 * GB)), "16.00 GB = 14.90 GiB"),
        (QuantityAnswer(value=Fraction(18), default_unit="bytes"), "18 bytes"),
        (CountAnswer(value=1, noun="sequences"), "1 sequence"),
        (CountAnswer(value=1024, noun="GPUs"), "1,024 GPUs"),
        (FactorAnswer(value=Fraction(7, 2)), "3.5 times"),
        (FactorAnswer(value=Fraction(18, 1000), share=True), "0.018 (1.8%)"),
        (
            YesNoAnswer(value=False, proof=QuantityAnswer(value=Fraction(16 * GB))),
            "no, 16.00 GB = 14.90 GiB",
        ),
    ],
)
def test_the_right_answer_is_said_with_its_unit(answer, said):
    assert answer.said == said
