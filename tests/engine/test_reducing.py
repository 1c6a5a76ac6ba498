"""What reducing takes under ZeRO-1 and 2, counted without making anything."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.partition import Flat, Weight, flat_of, fullest, weights
from engine.reducing import at_the_end, in_batches, scattered


@given(
    begin=st.integers(0, 300),
    size=st.integers(1, 2000),
    part=st.integers(1, 400),
    capacity=st.integers(1, 500),
)
def test_a_large_weight_goes_in_batches_that_end_just_beyond_the_capacity(
    begin, size, part, capacity
):
    weight = Weight(begin=begin, end=begin + size, layer=0, turn=(0, 0))
    batches, batch = [], []
    for owner in range(begin // part, (begin + size - 1) // part + 1):
        batch.append(min(begin + size, (owner + 1) * part) - max(begin, owner * part))
        if sum(batch) > capacity:
            batches.append(batch)
            batch = []
    copies = [sum(batch) for batch in (*batches, batch) if len(batch) > 1]
    assert in_batches(weight, part, capacity) == max(copies, default=0)


@pytest.mark.parametrize("implementation", ["fused", "hf"])
def test_the_flat_weights_are_all_of_them_without_a_gap(scenario, implementation):
    made = scenario("llama-3-8b", sequence=128, data=8, implementation=implementation)
    found = weights(flat_of(made))
    assert found[0].begin == 0
    assert found[-1].end == made.architecture.parameters
    assert all(one.end == other.begin for one, other in pairwise(found))


@pytest.mark.parametrize("ranks", [2, 8, 64, 10**9])
def test_a_rank_keeps_its_share_at_least_and_all_weights_at_most(scenario, ranks):
    architecture = scenario("llama-3-8b", sequence=128).architecture
    flat = Flat(architecture=architecture, ranks=ranks)
    part = fullest(flat)
    assert part.piece <= flat.part_size <= part.touched <= architecture.parameters


def test_one_rank_of_two_copies_nothing_before_the_border(scenario):
    """The weights above the border are all the last rank's, so its buckets need no copy."""
    flat = Flat(architecture=scenario("llama-3-8b", sequence=128).architecture, ranks=2)
    found = scattered(flat)
    assert found.layers.full.below == pytest.approx(16, abs=2)


def test_gradients_that_are_added_elsewhere_are_not_kept(scenario):
    flat = Flat(architecture=scenario("llama-3-8b", sequence=128).architecture, ranks=8)
    found = scattered(flat, keeps=False)
    assert found.layers.kept == found.bottom.kept == found.bottom.embedding == 0
    assert found.end < scattered(flat).end


def test_under_zero_1_all_gradients_are_there_when_reducing_begins(scenario):
    architecture = scenario("llama-3-8b", sequence=128).architecture
    for ranks in (2, 8, 64):
        assert at_the_end(Flat(architecture=architecture, ranks=ranks)) >= architecture.parameters
