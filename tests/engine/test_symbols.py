"""Expressions over the scenario's symbols, and their exact values."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from engine.symbols import (
    MEANINGS,
    RING,
    N,
    P,
    b,
    ceil_div,
    compiled,
    expression,
    h,
    largest,
    largest_of,
    s,
)

whole = st.integers(1, 10**6)


def test_ceil_div_stays_symbolic_until_both_are_numbers():
    assert ceil_div(P, N).subs({P: 10, N: 4}) == 3
    assert ceil_div(P, 1) == P
    assert ceil_div(P, N).has(ceil_div)


@given(x=whole, n=whole)
def test_ceil_div_is_the_smallest_share_that_holds_everything(x, n):
    share = compiled(ceil_div(P, N))({P: x, N: n})
    assert share * n >= x > (share - 1) * n


@given(x=whole, y=whole, z=whole)
def test_compiled_gives_the_value_that_sympy_gives(x, y, z):
    formula = sympy.Max(2 * b * s * h + 7, b**3, sympy.Min(s, h) * ceil_div(s, b), evaluate=False)
    values = {b: x, s: y, h: z}
    numbers = {symbol: sympy.Integer(n) for symbol, n in values.items()}
    assert compiled(formula)(values) == formula.xreplace(numbers).doit()


def test_values_stay_exact_beyond_the_precision_of_a_float():
    assert compiled(P * P + 1)({P: 10**30}) == 10**60 + 1


@pytest.mark.parametrize("formula", [P / 2, sympy.sqrt(P), P**N, sympy.Float(0.5) * P])
def test_what_is_not_whole_has_no_exact_value(formula):
    with pytest.raises(TypeError, match="no exact integer value"):
        compiled(formula)


def test_a_maximum_drops_what_another_always_covers():
    x, y, z = RING(b), RING(s), RING(h)
    assert largest_of([x * y, x * y + z, 2 * x * y + z]) == 2 * b * s + h
    kept = largest_of([x * y - z, x * y, z])
    assert set(kept.args) == {b * s, h}


def test_a_maximum_of_one_is_itself():
    assert largest(P, P) == P


def test_every_symbol_is_explained():
    assert len({symbol.name for symbol in MEANINGS}) == len(MEANINGS)
    assert all(MEANINGS.values())


terms = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)),
    max_size=6,
)


@given(terms=terms)
def test_an_expression_put_together_is_the_one_that_sympy_adds_up(terms):
    x, y, z = RING(b), RING(s), RING(P)
    polynomial = sum((c * x**i * y**j * z**k for c, i, j, k in terms), RING.zero)
    made = expression(polynomial)
    assert made == polynomial.as_expr()
    assert made + 0 == made
