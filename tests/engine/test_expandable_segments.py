"""Replayed segments that expand, against PyTorch's rules and layouts by hand.

Rules: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp, each test naming its function.
"""

import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cache_layout import filled, free, layout, place

from engine.caching.replay import replay, run
from engine.units import MIB

expandable = partial(filled, expandable=True)


@pytest.mark.parametrize("size", [19 * MIB, 20 * MIB - 512])
def test_512_bytes_left_of_a_block_become_a_block(size):
    """`should_split`."""
    assert replay([(0, size)], expandable=True).peak_allocated == size


def test_pages_have_2_and_20_mib():
    """`find_expandable_block`: the small buffer's and the large one's size."""
    small = expandable(0.5, 0.75)
    assert small.reserved == 2 * MIB
    assert small.allocate(2, MIB) is not None
    assert small.reserved == 4 * MIB
    large = expandable(3, 18)
    assert large.reserved == 40 * MIB
    assert layout(large) == [[(3, 0), (18, 1), (19, None)]]


def test_a_growing_tensor_leaves_fewer_holes_where_segments_expand():
    events = []
    for key, size in enumerate((30, 32, 34, 36)):
        events += [(key, size * MIB), (key, 0)]
    assert replay(events).peak_reserved == (30 + 32 + 34 + 36) * MIB
    assert replay(events, expandable=True).peak_reserved == 40 * MIB


def test_a_block_that_can_grow_counts_with_what_it_can_grow_to():
    """`get_free_block`: 5 MiB at the end could grow, so the hole of 6 MiB is the better fit."""
    cache = expandable(5, 6, 4)
    free(cache, 1)
    assert place(cache, 3, 5) == 5
    assert place(cache, 4, 5) == 15


def test_a_block_beside_one_in_use_counts_as_it_is():
    cache = expandable(5, 30, 6, 4)
    free(cache, 0, 2)
    assert place(cache, 4, 5) == 0


def test_free_pages_are_unmapped_and_the_lowest_gap_is_mapped_again():
    """`unmap_block`, then `find_expandable_block`."""
    cache = expandable(20, 20, 20, 20, capacity=80 * MIB)
    free(cache, 1, 2)
    assert cache.allocate(4, MIB) is not None
    assert cache.reserved == 42 * MIB
    assert [len(blocks) for blocks in cache.segments()] == [1, 1, 2]
    assert place(cache, 5, 19) == 20
    assert cache.reserved == 62 * MIB


def test_a_free_block_before_a_gap_grows_into_it():
    cache = expandable(20, 30, 30, capacity=80 * MIB)
    free(cache, 1)
    cache.empty_cache()
    assert layout(cache) == [[(20, 0)], [(10, None), (30, 2)]]
    assert place(cache, 3, 25) == 20
    assert layout(cache) == [[(20, 0), (25, 3), (5, None), (30, 2)]]


def test_a_page_in_use_anywhere_stays_mapped():
    cache = expandable(10, 20, 10, capacity=40 * MIB)
    free(cache, 1)
    assert cache.allocate(3, 1) is None
    assert layout(cache) == [[(10, 0), (20, None), (10, 2)]]
    assert cache.reserved == 40 * MIB


def test_a_page_is_unmapped_from_the_middle_of_a_free_block():
    cache = expandable(10, 40, 10)
    free(cache, 1)
    cache.empty_cache()
    assert layout(cache) == [[(10, 0), (10, None)], [(10, None), (10, 2)]]
    assert {place(cache, 3, 10), place(cache, 4, 10)} == {10, 40}
    assert cache.reserved == 40 * MIB


def test_gaps_around_a_free_block_are_mapped_one_by_one():
    """`try_allocate_expandable_block`: two gaps of a page with a free page between them."""
    cache = expandable(20, 20, 20, 20, capacity=80 * MIB)
    free(cache, 0, 2)
    cache.empty_cache()
    free(cache, 1)
    assert cache.allocate(4, 60 * MIB) is not None
    assert layout(cache) == [[(60, 4), (20, 3)]]
    assert cache.reserved == 80 * MIB


def test_a_gap_is_mapped_no_further_than_needed():
    cache = expandable(40, 20, 20, 20)
    free(cache, 0, 2)
    cache.empty_cache()
    free(cache, 1)
    assert cache.allocate(4, 30 * MIB) is not None
    assert layout(cache) == [[(30, 4), (30, None)], [(20, 3)]]


def test_a_gap_mapped_before_the_driver_failed_is_given_back():
    """`try_allocate_expandable_block`: the second gap is one page too many."""
    cache = expandable(20, 20, 20, 20, capacity=80 * MIB)
    free(cache, 0, 2)
    cache.empty_cache()
    free(cache, 1)
    for key in range(4, 24):
        assert cache.allocate(key, MIB) is not None
    assert cache.allocate(24, 60 * MIB) is None
    assert layout(cache)[0] == [(20, 3)]
    assert cache.reserved == 40 * MIB


def test_new_addresses_are_found_where_no_gap_is_long_enough():
    """`ExpandableSegment`: a range has an eighth more addresses than the device has memory."""
    cache = expandable(*[20] * 72, capacity=72 * 20 * MIB)
    free(cache, *range(1, 20, 2))
    assert place(cache, 72, 200) == 81 * 20
    assert cache.reserved == 72 * 20 * MIB


def test_what_was_mapped_in_vain_counts_in_the_peak():
    cache = expandable(20, 20, 20, 20, capacity=100 * MIB)
    free(cache, 0, 2)
    cache.empty_cache()
    free(cache, 1)
    for key in range(4, 34):
        assert cache.allocate(key, MIB) is not None
    replayed = run(cache, [(4, 0), (34, 60 * MIB)])
    assert replayed.out_of_memory is not None
    assert (replayed.peak_reserved, replayed.allocated_at_peak_reserved) == (90 * MIB, 49 * MIB)
