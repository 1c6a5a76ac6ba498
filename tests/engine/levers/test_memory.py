"""Ledgers over arrays: the same bytes as one by one, however large."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer

from engine.estimate import ledger, lines_of
from engine.levers.arrays import magnitude, over_arrays
from engine.levers.memory import need
from engine.stages import differing
from engine.structure import structure_of
from engine.symbols import L, N, b, ceil_div, compiled, h, s
from engine.values import values_of

NUMBERS = st.integers(1, 10**9)
EXPRESSIONS = (
    b * s * h,
    b**3 * s - 7 * h * L,
    sympy.Max(b * s, h * L, 5 * b),
    sympy.Min(b, s) * h,
    ceil_div(b * s * h, N),
    ceil_div(8 * b, Integer(100)) - s,
    Integer(7),
)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
@given(rows=st.lists(st.tuples(*(NUMBERS,) * 5), min_size=1, max_size=4))
def test_an_array_has_what_each_number_has(expression, rows):
    names = (b, s, h, L, N)
    values = {one: np.array([row[i] for row in rows], object) for i, one in enumerate(names)}
    found = over_arrays(expression)(values) + np.zeros(len(rows), object)
    each = [compiled(expression)(dict(zip(names, row, strict=True))) for row in rows]
    assert found.tolist() == each
    most = {one: max(row[i] for row in rows) for i, one in enumerate(names)}
    assert magnitude(expression)(most) >= max(map(abs, each))


def test_what_is_no_whole_expression_is_refused():
    for wrong in (sympy.sin(b), b ** Integer(-1), sympy.Rational(1, 2)):
        with pytest.raises(TypeError):
            over_arrays(wrong)


def test_64_bits_are_left_where_they_are_not_enough(scenario):
    """A batch beyond every GPU: b·s·h and more are above 2^63."""
    huge = scenario("llama-3-8b", micro_batch=10**9, sequence=10**9, attention="eager")
    book = ledger(huge)
    assert book.peak > 2**63
    found = need([huge])
    assert (found.peak, found.shown) == ((book.peak,), (book.nvidia_smi[1],))


def test_many_at_once_are_as_one_by_one(scenario):
    made = [
        scenario("llama-3.2-1b", sequence=1024, data=data, zero=zero, micro_batch=size)
        for data in (1, 4)
        for zero in (0, 1, 2, 3)
        for size in (1, 4)
    ]
    found = need(made)
    books = [ledger(one) for one in made]
    assert found.peak == tuple(book.peak for book in books)
    assert found.shown == tuple(book.nvidia_smi[1] for book in books)


def test_neither_attention_nor_recomputation_changes_what_a_symbol_stands_for(scenario):
    """What is found once for all of them."""
    plain = scenario("llama-3.2-1b", data=4, zero=2)
    other = scenario("llama-3.2-1b", data=4, zero=2, attention="eager", recompute="full")
    (stage,) = differing(plain)
    assert values_of(plain, stage) == values_of(other, stage)


def test_the_lines_of_a_structure_are_those_of_its_ledger(scenario):
    made = scenario("llama-3.2-1b", data=4, zero=3)
    (stage,) = differing(made)
    names = {line.name for line in lines_of(structure_of(made, stage))}
    assert names == {line.name for line in ledger(made).lines}
