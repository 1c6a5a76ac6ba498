"""Formulas are equal where they give the same numbers, and are written as people write them."""

from fractions import Fraction

import pytest

from problems.answers.symbolic import Letter, SymbolicAnswer, telling, wrong
from problems.formula import ONE, constant, letter

P, N, S, B, H, T, A = map(letter, "PNsbhta")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (16 * P, "16·P"),
        (16 * P / N, "16·P/N"),
        (4 * P + 12 * P / N, "P·(4 + 12/N)"),
        (S * B * H * (10 * ONE + 24 * ONE / T), "s·b·h·(10 + 24/t)"),
        (S * B * (34 * H + 5 * A * S), "s·b·(5·a·s + 34·h)"),
        (P * Fraction(11, 2), "11·P/2"),
        (P - 2 * N, "P - 2·N"),
        (ONE / (2 * N * T), "1/(2·t·N)"),
        (S * S, "s^2"),
        (constant(7), "7"),
        (P * -1, "-P"),
    ],
)
def test_a_formula_is_written_as_people_write_it(formula, said):
    assert formula.said == said


def test_formulas_of_equal_terms_are_equal():
    assert 2 * P * (ONE + 7 * ONE / N) == 2 * P + 14 * P / N
    assert P - P + N == N
    assert P * N / N == P


def test_a_formula_gives_an_exact_number():
    assert (4 * P + 12 * P / N).at({"P": 5, "N": 7}) == Fraction(200, 7)


def test_a_sum_is_no_divisor():
    with pytest.raises(ValueError, match="one term only"):
        P / (N + 1)


def test_an_answer_defines_every_letter_and_no_mistake_is_right():
    letters = (Letter(name="P", says="parameters", aliases=("n",)), Letter(name="n", says="GPUs"))
    with pytest.raises(
        ValueError, match="N is not defined; 2 letters may be typed as n; two form"
    ):
        SymbolicAnswer(formula=P / N, letters=letters, mistakes=(wrong("one", P / N, "is it."),))


def test_mistakes_that_tell_nothing_are_left_out():
    rows = (wrong("right", P, "is."), wrong("twice", 2 * P, "is."), wrong("again", 2 * P, "is."))
    assert [one.name for one in telling(P, iter(rows))] == ["twice"]
