from fractions import Fraction

import pytest

from problems.problem import Mistake
from quiz.marking.nearness import credit, nearest, slip

HUNDRED = Fraction(100)


@pytest.mark.parametrize(
    ("number", "band", "share"),
    [
        # DESIGN's bands: a count 2%; an estimate 15%, 35%, a factor of 2.
        (100, "count", 1),
        (102, "count", 1),
        (98, "count", 1),
        ("102.01", "count", 0),
        ("97.99", "count", 0),
        (107, "count", 0),
        (115, "estimate", 1),
        (85, "estimate", 1),
        (116, "estimate", "1/2"),
        (135, "estimate", "1/2"),
        (65, "estimate", "1/2"),
        (136, "estimate", "1/4"),
        (200, "estimate", "1/4"),
        (50, "estimate", "1/4"),
        (201, "estimate", 0),
        ("49.9", "estimate", 0),
        (0, "estimate", 0),
    ],
)
def test_a_band_gives_its_share(number, band, share):
    assert credit(Fraction(number), HUNDRED, band) == Fraction(share)


def test_a_reference_of_nothing_is_met_by_nothing_alone():
    assert credit(Fraction(0), Fraction(0), "estimate") == 1
    assert credit(Fraction(1), Fraction(0), "estimate") == 0


@pytest.mark.parametrize(
    ("reference", "typed", "name"),
    [
        (34_460_000_000, 32_093_310_000, "GiB typed as GB"),
        (34_460_000_000, 37_001_000_000, "GB typed as GiB"),
        (2 * 10**12, 1_819_000_000_000, "TiB typed as TB"),
        (500_000_000, 524_288_000, "MB typed as MiB"),
        (34_460_000_000, 34_460_000_000, None),
        (34_460_000_000, 36_000_000_000, None),
        # MB and MiB are not how a size of many GB is said.
        (34_460_000_000, 32_863_000_000, None),
    ],
)
def test_exchanged_units_are_seen_in_the_number(reference, typed, name):
    found = slip(Fraction(typed), Fraction(reference))
    assert (found.name if found else None) == name


def mistakes(*values):
    return [Mistake(name=str(v), value=Fraction(v), feedback="") for v in values]


@pytest.mark.parametrize(
    ("number", "values", "name"),
    [
        (100, (100,), "100"),
        (103, (100,), "100"),
        (104, (100,), None),
        (102, (100, 104), None),
        (101, (100, 104), "100"),
        (100, (), None),
        (0, (100,), None),
    ],
)
def test_the_nearest_mistake_within_3_percent_is_named(number, values, name):
    found = nearest(Fraction(number), mistakes(*values))
    assert (found.name if found else None) == name
