"""The replayed allocator against PyTorch's rules, published measurements and sums by hand.

Rules: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp, each test naming its function.
"""

import sys
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from cache_layout import filled, free, layout, place

from engine.allocator import block, segment
from engine.caching.blocks import CHUNK, Block, Ordered, Pool
from engine.caching.cache import CachingAllocator
from engine.caching.replay import OutOfMemory, Reserved, replay
from engine.units import GIB, MIB

SAMPLE = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("size", "rounded"),
    [
        (1, 512),
        (511, 512),
        (512, 512),
        (513, 1024),
        (MIB - 1, MIB),
        (10 * MIB + 1, 10 * MIB + 512),
    ],
)
def test_a_block_is_a_multiple_of_512_bytes(size, rounded):
    """`round_size`."""
    assert block(size) == rounded


@pytest.mark.parametrize(
    ("size", "mib"),
    [
        (1, 2),
        (MIB, 2),
        (MIB + 1, 20),
        (10 * MIB - 512, 20),
        (10 * MIB - 511, 10),
        (10 * MIB, 10),
        (10 * MIB + 1, 12),
        (20 * MIB, 20),
        (20 * MIB + 1, 22),
    ],
)
def test_a_segment_has_2_or_20_mib_or_the_next_even_number(size, mib):
    """`get_allocation_size`."""
    assert segment(size) == mib * MIB
    assert replay([(0, size)]).peak_reserved == mib * MIB


# What PyTorch printed as "Tried to allocate", and the tensor's bytes.
TRIED = (
    (10240 * 3 * 224 * 224 * 4, "5.74 GiB"),  # pytorch/pytorch#37250, comment of 2023-05-11
    (2 * 1024 * 50304 * 4, "394.00 MiB"),  # karpathy/nanoGPT#88, fp32 logits: 393 MiB
    (202383360 * 2, "388.00 MiB"),  # tatsu-lab/stanford_alpaca#223, a gathered layer: 386.02 MiB
    (11008 * 4096 * 2, "86.00 MiB"),  # tatsu-lab/stanford_alpaca#221, one MLP matrix
)


@pytest.mark.parametrize(("size", "printed"), TRIED)
@pytest.mark.parametrize("expandable", [False, True])
def test_tried_to_allocate_is_the_segment_and_not_the_tensor(size, printed, expandable):
    """`malloc` prints `alloc_size`, also where pages are mapped instead."""
    failed = replay([(0, size)], expandable=expandable, capacity=MIB).out_of_memory
    unit = GIB if printed.endswith("GiB") else MIB
    assert f"{failed.driver_request / unit:.2f} {printed[-3:]}" == printed


def test_the_rest_of_a_published_message_is_met():
    """pytorch/pytorch#37250, comment of 2023-05-11: 588 MiB allocated, 588 MiB reserved."""
    one = 1024 * 3 * 224 * 224 * 4
    failed = replay([(0, one), (1, 10 * one)], capacity=588 * MIB + int(4.13 * GIB)).out_of_memory
    assert (failed.allocated, failed.reserved) == (588 * MIB, 588 * MIB)
    assert f"{failed.free / GIB:.2f}" == "4.13"


def test_a_published_sequence_of_two_convolutions_is_met():
    """pytorch/pytorch#34330: memory_cached() as printed, with its empty_cache() at the end."""
    image, hidden = 2 * 100 * 256 * 256 * 4, 2 * 200 * 256 * 256 * 4
    weights = [100 * 200 * 9 * 4, 200 * 4, 200 * 200 * 9 * 4, 200 * 4]
    cache = CachingAllocator()
    for key, size in enumerate([*weights, image]):
        cache.allocate(key, size)
    printed = [cache.reserved]
    for key in (5, 6):
        cache.allocate(key, hidden)
        printed.append(cache.reserved)
    cache.free(5)
    cache.empty_cache()
    cache.allocate(7, hidden)
    printed.append(cache.reserved)
    assert printed == [75497472, 180355072, 285212672, 285212672]


def test_a_published_sequence_of_two_poolings_is_met():
    """pytorch/pytorch#69526: 296 MB reserved and 294 allocated, then 5014 reserved."""
    frames, convolved = 512 * 3 * 224**2 * 4, 512 * 28 * 222**2 * 4
    pooled, again = 512 * 28 * 111**2, 512 * 28 * 56**2
    before = [(0, 28 * 3 * 9 * 4), (1, 28 * 4), (2, frames)]
    # A pooling makes 8-byte indices beside its output and drops them.
    forward = [(3, convolved), (4, 4 * pooled), (5, 8 * pooled), (5, 0), (3, 0)]
    forward += [(6, 4 * again), (7, 8 * again), (7, 0), (4, 0)]
    assert replay(before).peak_reserved == 296 * MIB
    assert replay(before).peak_allocated // MIB == 294
    assert replay(before + forward).peak_reserved == 5014 * MIB


def test_a_smaller_tensor_takes_the_place_of_a_freed_one():
    cache = filled(1.5)
    free(cache, 0)
    assert place(cache, 1, 1.2) == 0
    assert cache.reserved == 20 * MIB


def test_a_hole_that_is_too_small_makes_a_new_segment():
    cache = filled(6, 6, 6)
    free(cache, 1)
    assert place(cache, 3, 7) == 20
    assert (cache.reserved, cache.allocated) == (40 * MIB, 19 * MIB)


def test_the_smallest_hole_is_taken_before_the_lowest():
    """`get_free_block`: blocks are ordered by size."""
    cache = filled(6, 2, 4, 2)
    free(cache, 0, 2)
    assert place(cache, 4, 3) == 8


@pytest.mark.parametrize("expandable", [False, True])
def test_the_lowest_of_equal_holes_is_taken(expandable):
    """`BlockComparatorSize`: then by address."""
    cache = filled(4, 2, 4, 2, 8, expandable=expandable)
    free(cache, 2, 0)
    assert place(cache, 5, 4) == 0


def test_512_bytes_left_of_a_small_block_become_a_block():
    """`should_split`, small pool."""
    events = [(0, MIB), (1, MIB - 512), (2, 512)]
    assert replay(events).peak_reserved == 2 * MIB


@pytest.mark.parametrize(("less", "kept"), [(0, 20 * MIB), (512, 19 * MIB - 512)])
def test_only_more_than_1_mib_left_of_a_large_block_becomes_a_block(less, kept):
    """`should_split`, large pool; allocated bytes are those of blocks."""
    assert replay([(0, 19 * MIB - less)]).peak_allocated == kept


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("expandable", [False, True])
def test_freed_neighbours_become_one_block_in_whatever_order(order, expandable):
    """`try_merge_blocks`."""
    cache = filled(6, 6, 6, expandable=expandable)
    free(cache, *order)
    assert layout(cache) == [[(20, None)]]


def test_a_freed_block_takes_in_neighbours_on_either_side_only():
    cache = filled(3, 3, 3, 3, 3, 3)
    free(cache, 1, 4, 2)
    assert layout(cache) == [[(3, 0), (6, None), (3, 3), (3, None), (3, 5), (2, None)]]


@pytest.mark.parametrize(("first", "second"), [(MIB, MIB + 1), (MIB + 1, MIB)])
def test_a_pools_free_memory_does_not_serve_the_other_pool(first, second):
    """`get_pool`: up to 1 MiB is small."""
    assert replay([(0, first), (0, 0), (1, second)]).peak_reserved == 22 * MIB


@pytest.mark.parametrize("cached", [1, 10, 30])
def test_free_segments_are_given_back_before_memory_is_out(cached):
    """`release_cached_blocks`, from both pools; 2 and 10 MiB are the smallest segments."""
    events = [(0, cached * MIB), (0, 0), (1, 40 * MIB)]
    replayed = replay(events, capacity=41 * MIB)
    assert replayed.out_of_memory is None
    assert replayed.peak_reserved == 40 * MIB


def test_a_segment_in_use_is_not_given_back():
    events = [(0, 6 * MIB), (1, 6 * MIB), (0, 0), (2, 39 * MIB + 5), (1, 0)]
    replayed = replay(events, capacity=50 * MIB)
    assert replayed.out_of_memory == OutOfMemory(
        index=3,
        requested=39 * MIB + 5,
        driver_request=40 * MIB,
        free=30 * MIB,
        reserved=20 * MIB,
        allocated=6 * MIB,
    )
    assert replayed.out_of_memory.unallocated == 14 * MIB
    assert replayed.peak_allocated == 12 * MIB


@pytest.mark.parametrize(("capacity", "out"), [(20 * MIB, False), (20 * MIB - 1, True)])
@pytest.mark.parametrize("expandable", [False, True])
def test_the_whole_capacity_can_be_reserved(capacity, out, expandable):
    replayed = replay([(0, 20 * MIB)], capacity=capacity, expandable=expandable)
    assert (replayed.out_of_memory is not None) is out


@pytest.mark.parametrize("expandable", [False, True])
def test_an_emptied_allocator_starts_anew(expandable):
    cache = filled(0.5, 30, expandable=expandable)
    highest = cache.segments()[-1][-1].address
    free(cache, 0, 1)
    cache.empty_cache()
    assert (cache.reserved, cache.segments()) == (0, [])
    assert cache.allocate(2, 1).address > highest
    assert cache.reserved == 2 * MIB


def test_the_peaks_of_reserved_and_of_allocated_bytes_are_apart():
    events = [(0, 30 * MIB), (1, 30 * MIB), (0, 0), (1, 0), (2, 40 * MIB)]
    events += [(3, 10 * MIB)]
    replayed = replay(events)
    assert replayed == Reserved(
        peak_reserved=100 * MIB,
        peak_allocated=60 * MIB,
        allocated_at_peak_reserved=40 * MIB,
        peak_index=1,
    )


def test_the_first_of_equal_peaks_counts():
    again = [(1, 30 * MIB), *((key, MIB) for key in range(2, 12))]
    replayed = replay([(0, 40 * MIB), (0, 0), *again])
    assert (replayed.peak_index, replayed.peak_allocated) == (0, 40 * MIB)
    assert replayed.peak_reserved == 50 * MIB


def test_nothing_replayed_is_nothing_reserved():
    assert replay([]) == Reserved(
        peak_reserved=0,
        peak_allocated=0,
        allocated_at_peak_reserved=0,
        peak_index=-1,
    )


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([(1, 0)], "key 1 is not allocated"),
        ([(1, 8), (1, 0), (1, -8)], "key 1 is not allocated"),
        ([(1, 8), (1, 8)], "key 1 is allocated already"),
        ([(0, 8), (1, 8), (1, -4)], "event 2: key 1 has 8 bytes, 4 are freed"),
    ],
)
def test_events_that_cannot_be_are_refused(events, said):
    with pytest.raises(ValueError, match=said):
        replay(events)


def test_a_tensor_without_bytes_has_no_block():
    with pytest.raises(ValueError, match="key 1: 0 bytes"):
        CachingAllocator().allocate(1, 0)


@pytest.mark.parametrize("stride", [1, 7919])
def test_blocks_stay_in_order_however_many_there_are(stride):
    pool, ordered = Pool(small=True, page=1), Ordered()
    many = [Block(address=n, size=n * stride % 1009, pool=pool) for n in range(4 * CHUNK)]
    for one in many:
        ordered.add(one)
    by_size = sorted(many, key=lambda one: (one.size, one.address))
    assert list(ordered) == by_size
    assert list(ordered.at_least(500)) == [one for one in by_size if one.size >= 500]
    for one in reversed(by_size[1:]):
        ordered.remove(one)
    assert list(ordered) == by_size[:1]
    ordered.remove(by_size[0])
    ordered.add(many[5])
    assert list(ordered) == [many[5]]


sizes = st.one_of(
    st.integers(1, MIB),
    st.integers(MIB, 12 * MIB),
    st.integers(MIB, 70 * MIB),
    st.sampled_from((512, MIB, MIB + 1, 10 * MIB - 512, 10 * MIB, 20 * MIB)),
)
# Positive: allocate so much. Negative: free one of those alive.
steps = st.lists(st.one_of(sizes, sizes, st.integers(-1000, -1)), max_size=120)
options = st.fixed_dictionaries(
    {"expandable": st.booleans(), "capacity": st.sampled_from((None, 90 * MIB, 301 * MIB + 7))}
)


def as_events(steps):
    """Turn steps into events, every key anew."""
    alive, events = [], []
    for key, step in enumerate(steps):
        if step > 0:
            alive.append(key)
            events.append((key, step))
        elif alive:
            events.append((alive.pop(step % len(alive)), 0))
    return events


@SAMPLE
@given(steps, options)
def test_at_every_moment_blocks_tile_the_reserved_bytes(steps, options):
    cache = CachingAllocator(**options)
    alive = {}
    for key, size in as_events(steps):
        if size == 0:
            if key in alive:
                cache.free(key)
                del alive[key]
        elif cache.allocate(key, size) is not None:
            alive[key] = size
        consistent(cache, alive, options["capacity"])
    free(cache, *alive)
    assert cache.allocated == 0
    assert all(len(blocks) == 1 for blocks in cache.segments())
    cache.empty_cache()
    assert (cache.reserved, cache.segments()) == (0, [])


def consistent(cache, alive, capacity):
    segments = cache.segments()
    assert cache.reserved % (2 * MIB) == 0
    assert cache.allocated <= cache.reserved <= (capacity or cache.reserved)
    assert sum(b.size for blocks in segments for b in blocks) == cache.reserved
    assert {
        b.key: b.requested for blocks in segments for b in blocks if b.key is not None
    } == alive
    assert all(b.size >= block(b.requested) for blocks in segments for b in blocks)
    end = 0
    for blocks in segments:
        assert blocks[0].address >= end
        for one, following in zip(blocks, (*blocks[1:], None), strict=True):
            end = one.address + one.size
            if following is not None:
                assert following.address == end
                assert one.key is not None or following.key is not None


@SAMPLE
@given(steps, options)
def test_a_replay_is_the_same_each_time_and_frees_by_either_sign(steps, options):
    events = as_events(steps)
    held = dict(event for event in events if event[1] > 0)
    signed = [(key, size or -held[key]) for key, size in events]
    assert replay(events, **options) == replay(iter(signed), **options)
