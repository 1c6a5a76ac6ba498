"""What levers save and cost, and their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.estimate import ledger
from engine.levers.assess import assess
from engine.levers.change import Change, state
from engine.levers.registry import levers
from engine.levers.ties import TIE, tied


@pytest.fixture
def ordinary(scenario):
    """Llama 3 8B on a node of 8 x H100, which does not fit; nothing is pulled yet."""
    return scenario(
        "llama-3-8b",
        data=8,
        sequence=8192,
        micro_batch=2,
        gradient_accumulation=4,
        optimizer="adamw-fused",
        loss="fused",
    )


def names(found):
    return [row.lever.name for row in found.ranked]


def test_lines_and_categories_add_up_to_what_is_saved(ordinary):
    for row in assess(ordinary).ranked:
        assert sum(line.saved for line in row.change.lines) == row.change.saved > 0
        assert sum(row.change.categories.values()) == row.change.saved


def test_the_saving_is_the_difference_of_two_ledgers(ordinary):
    for row in assess(ordinary).ranked:
        after = ledger(row.change.after.scenario)
        assert row.change.saved == ledger(ordinary).peak - after.peak


def test_every_lever_is_told_once(ordinary):
    found = assess(ordinary)
    told = [row.lever.name for row in (*found.ranked, *found.useless, *found.refused)]
    assert sorted(told) == sorted(levers())


def test_the_rule_of_thumb_comes_out_on_an_ordinary_node(ordinary):
    found = names(assess(ordinary))
    first = ["smaller micro-batch", "ZeRO-1", "ZeRO-2", "ZeRO-3"]
    assert [name for name in found if name in first] == first
    for late in ("full recompute", "pipeline parallel"):
        assert found.index(late) > found.index("ZeRO-3")


def test_a_slow_network_puts_recomputation_before_zero_3(scenario):
    """Over 100 Gb/s gathering every micro-batch's weights costs more than computing again."""
    step = scenario(
        "llama-3-8b",
        gpu="a100-80gb-pcie",
        data=16,
        sequence=1024,
        micro_batch=2,
        gradient_accumulation=8,
        optimizer="adamw-fused",
    )
    found = names(assess(step))
    assert found.index("full recompute") < found.index("ZeRO-3")


def test_recomputation_costs_a_forward_pass(ordinary):
    row = next(r for r in assess(ordinary).ranked if r.lever.name == "full recompute")
    forward = row.change.before.time.flops / 3
    assert row.change.flops == pytest.approx(forward, rel=0.1)
    assert (row.change.communication_bytes, row.change.host_bytes) == (0, 0)
    assert 0.2 < row.change.overhead < 0.4


def test_zero_3_sends_half_as_much_again_as_data_parallelism(ordinary):
    """arXiv 1910.02054 section 7: 3 against 2 times the parameters, in the same dtype."""
    row = next(r for r in assess(ordinary).ranked if r.lever.name == "ZeRO-3")
    assert row.change.communication_bytes > 0


def test_offload_moves_bytes_over_the_hosts_wire(scenario):
    step = scenario("llama-3-8b", sequence=1024, gpu="b200")
    row = next(r for r in assess(step).ranked if r.lever.name == "CPU offload")
    assert row.change.host_bytes > 0
    assert row.change.overhead > 0.5


def test_more_gpus_are_priced_by_the_time_of_all_of_them(ordinary):
    row = next(r for r in assess(ordinary).ranked if r.lever.name == "more GPUs")
    gpus = row.change.after.scenario.hardware.gpus
    assert row.change.overhead < 0
    assert (1 + row.change.price) == pytest.approx((1 + row.change.overhead) * gpus / 8)


def test_what_another_stacks_kernels_gain_is_not_the_levers_price(scenario):
    step = scenario("llama-3-8b", data=8, sequence=8192, micro_batch=4)
    moved = levers()["context parallel"].applied(step)
    change = Change(before=state(step), after=state(moved))
    assert change.overhead < 0
    assert change.price == 0


@pytest.mark.parametrize(
    ("prices", "groups"),
    [
        ([0.0, 0.04, 0.05, 0.06], [[0.0, 0.04, 0.05], [0.06]]),
        ([-0.05, 0.05], [[-0.05, 0.05]]),
        ([-0.06, -0.05, 0.0], [[-0.06], [-0.05, 0.0]]),
        ([-0.4, -0.36, 0.3, 0.34, 0.36], [[-0.4, -0.36], [0.3, 0.34], [0.36]]),
    ],
)
def test_five_points_are_a_tie(prices, groups):
    assert [list(group) for group in tied(prices, lambda price: price)] == groups


@given(prices=st.lists(st.floats(-0.9, 5)))
def test_groups_are_in_order_and_no_wider_than_twice_a_tie(prices):
    groups = tied(prices, lambda price: price)
    assert [price for group in groups for price in group] == sorted(prices)
    assert all(group[-1] - group[0] <= 2 * TIE + 1e-9 for group in groups)


def test_what_changes_numerics_is_not_favoured_for_the_time_that_it_saves(ordinary):
    row = next(r for r in assess(ordinary).ranked if r.lever.name == "8-bit optimizer")
    assert row.change.overhead < 0
    assert row.price == 0


def test_in_a_group_the_least_invasive_comes_first(ordinary):
    for group in assess(ordinary).groups:
        ranks = [row.lever.invasiveness for row in group]
        assert ranks == sorted(ranks)
