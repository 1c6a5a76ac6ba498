"""Bytes as people write them."""

import pytest

from engine import units


@pytest.mark.parametrize(
    ("size", "decimal", "binary"),
    [
        (0, "0 B", "0 B"),
        (999, "999 B", "999 B"),
        (1000, "1.00 kB", "1,000 B"),
        (1024, "1.02 kB", "1.00 KiB"),
        (34_500_000_000, "34.50 GB", "32.13 GiB"),
        (80 * units.GIB, "85.90 GB", "80.00 GiB"),
        (1_200_000_000_000, "1.20 TB", "1.09 TiB"),
    ],
)
def test_a_size_is_shown_in_the_largest_unit_that_gives_at_least_one(size, decimal, binary):
    assert (units.decimal(size), units.binary(size)) == (decimal, binary)


def test_both_units_stand_side_by_side():
    assert units.both(34_500_000_000) == "34.50 GB = 32.13 GiB"
    assert units.both(12) == "12 B"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (6_738_415_616, "6.74B"),
        (774_030_080, "774.03M"),
        (512, "512"),
        (1_000_000_000_000, "1.00T"),
    ],
)
def test_a_count_is_shown_as_people_say_it(number, said):
    assert units.count(number) == said
