from fractions import Fraction

import pytest

from engine.units import GIB
from problems.problem import Mistake
from quiz.marking.nearness import credit, credit_of_range, nearest, slip

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
        # Half a GB may be said in GB, and 2 GB in MB.
        (500_000_000, 465_661_287, "GiB typed as GB"),
        (499_999_999, 465_661_287, None),
        (2_000_000_000, 2_097_152_000, "MB typed as MiB"),
        (2_000_000_001, 2_097_152_000, None),
        (500_000_000_000, 454_747_350_886, "TiB typed as TB"),
        (499_999_999_999, 454_747_350_886, None),
        # Half a percent off, and more.
        (10_000_000_000, Fraction(10 * GIB * 1005, 1000), "GB typed as GiB"),
        (10_000_000_000, Fraction(10 * GIB * 1006, 1000), None),
        (0, 100, None),
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
        (101, (104, 100), "100"),
        (500, (500, Fraction(500_000, 1003)), None),
        (500, (500, Fraction(500_000, 1004)), "500"),
        (500, (0, 500), "500"),
        # As near on either side.
        (102, (100, 104, 300), None),
        (100, (), None),
        (0, (100,), None),
    ],
)
def test_the_nearest_mistake_within_3_percent_is_named(number, values, name):
    found = nearest(Fraction(number), mistakes(*values))
    assert (found.name if found else None) == name


def test_a_slip_says_what_was_meant_and_what_was_said():
    found = slip(Fraction(37_001_000_000), Fraction(34_460_000_000))
    assert found.feedback == "The number is right in GB, but it was said in GiB."
    assert found.value == Fraction(34_460_000_000) * Fraction(2**30, 10**9)


@pytest.mark.parametrize(
    ("low", "high", "band", "share"),
    [
        # From one end of a band to the other: 102 / 98, 115 / 85, 135 / 65; 2 each way.
        (98, 102, "count", 1),
        (97, 102, "count", "1/2"),
        (85, 115, "count", "1/2"),
        (84, 115, "count", "1/4"),
        (65, 135, "count", "1/4"),
        (64, 135, "count", 0),
        (85, 115, "estimate", 1),
        (84, 115, "estimate", "1/2"),
        (65, 135, "estimate", "1/2"),
        (64, 135, "estimate", "1/4"),
        (50, 200, "estimate", "1/4"),
        (49, 200, "estimate", 0),
        (100, 101, "count", 1),
        (99, 100, "count", 1),
        # Missed: its nearer end, half at most.
        (101, 200, "estimate", "1/2"),
        (60, 70, "estimate", "1/2"),
        (101, 102, "count", "1/2"),
        (103, 104, "count", 0),
    ],
)
def test_a_range_earns_by_its_width_or_by_its_nearer_end(low, high, band, share):
    earned = credit_of_range(Fraction(low), Fraction(high), HUNDRED, band)
    assert earned == Fraction(share)
