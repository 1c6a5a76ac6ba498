"""A small part of `make fuzz`: typed answers by chance, held to the values that they spell."""

import sys
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from fuzz import MEMORY, Case, cases, judged, part

from problems.draw import Draw


@pytest.mark.parametrize("seed", range(101, 105))
def test_no_answer_is_misread_raises_or_hangs(seed):
    found = part(seed, 1500)
    assert found.wrong == []
    assert found.counts["known: read"] > 0.95 * 750


def test_a_misreading_would_be_noticed():
    assert judged(Case(typed="16 GB", context=MEMORY, value=Fraction(16 * 10**9))) == "read"
    assert judged(Case(typed="16 GB", context=MEMORY, value=Fraction(16 * 2**30))) == "MISREAD"
    assert judged(Case(typed="16,000", context=MEMORY, value=Fraction(16 * 10**9))) == (
        "named as another reading"
    )
    assert judged(Case(typed="16 parsecs", context=MEMORY)) == "refused"


def test_the_cases_of_a_seed_are_the_same_each_time():
    one, other = (list(islice(cases(Draw("fuzz", 7)), 50)) for _ in range(2))
    assert one == other
