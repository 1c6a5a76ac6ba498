"""Bounds as text stay within the bounds."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quiz.formats.numbers import around

BOUNDS = st.fractions(min_value=0, max_value=10**15, max_denominator=10**12)


@given(BOUNDS, BOUNDS)
def test_a_middle_and_its_distance_widen_no_bound_and_lose_nothing_to_speak_of(one, other):
    low, high = sorted((one, other))
    middle, distance = map(Fraction, around(low, high))
    assert low <= middle - distance or distance == 0
    assert middle + distance <= high or distance == 0
    assert high - low - 2 * distance <= 4 * high / 10**19


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (Fraction(3), Fraction(3), ("3", "0")),
        (Fraction(98), Fraction(102), ("100", "2")),
        (Fraction(49, 200), Fraction(51, 200), ("0.25", "0.005")),
        (Fraction(0), Fraction(10**18), ("500000000000000000", "500000000000000000")),
    ],
)
def test_a_middle_and_its_distance_are_plain_decimals(low, high, text):
    assert around(low, high) == text
