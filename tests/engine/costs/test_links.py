"""Which wire a group uses."""

from dataclasses import replace

import pytest

from engine.catalog import accelerator, accelerators
from engine.costs import links
from engine.costs.links import Group

H100 = accelerator("h100-80gb")


@pytest.mark.parametrize(
    ("split", "spans"),
    [
        ({"tensor": 8}, {"tensor": 8}),
        ({"tensor": 2, "context": 4}, {"tensor": 2, "context": 8}),
        ({"tensor": 4, "data": 4}, {"tensor": 4, "sharing": 16}),
        ({"tensor": 4, "data": 2, "pipeline": 2}, {"sharing": 8, "pipeline": 16}),
        ({"tensor": 2, "data": 8, "expert": 4}, {"expert": 8, "replicas": 16}),
    ],
)
def test_tensor_is_innermost_then_context_then_data_then_pipeline(settings, split, spans):
    """NVIDIA/Megatron-LM megatron/core/parallel_state.py, order "tp-cp-ep-dp-pp"."""
    chosen = settings(**split)
    assert {name: getattr(links, name)(chosen).span for name in spans} == spans


def test_a_group_in_a_node_uses_nvlink():
    link = links.ring(H100, Group(size=8, stride=1))
    assert (link.name, link.rate) == ("NVLink", pytest.approx(450e9 * 0.8))


def test_a_group_without_nvlink_uses_pcie():
    assert links.ring(accelerator("l40s"), Group(size=8, stride=1)).name == "PCIe"


@pytest.mark.parametrize(("size", "name"), [(2, "NVLink"), (4, "PCIe")])
def test_a_bridge_joins_two(size, name):
    assert links.ring(accelerator("h100-80gb-pcie"), Group(size=size, stride=1)).name == name


def test_every_card_with_a_bridge_joins_two():
    """Titles and sources name them: PCIe cards of the data centre, and those of workstations."""
    bridged = {gpu.name for gpu in accelerators().values() if gpu.nvlink_gpus == 2}
    assert all(accelerator(name).nvlink_gb_s for name in bridged)
    assert {name for name in accelerators() if "pcie" in name} - {"p100-16gb"} <= bridged


def test_whole_nodes_use_all_their_network_cards():
    """stas00/ml-engineering, network: 365 GB/s over 4 nodes of 8 x H200, 8 cards of 50 GB/s."""
    link = links.ring(accelerator("h200"), Group(size=32, stride=1))
    assert link.rate == pytest.approx(365e9, rel=0.15)


def test_a_group_with_one_rank_in_a_node_has_one_card():
    link = links.ring(H100, Group(size=4, stride=8))
    assert (link.name, link.rate) == ("network", pytest.approx(50e9 * 0.8))


def test_more_cards_than_nvlink_carries_are_no_faster_than_nvlink():
    fast = replace(H100, network_gb_s=400.0)
    link = links.ring(fast, Group(size=16, stride=1))
    assert (link.rate, link.latency) == (pytest.approx(450e9 * 0.8), 68e-6)


def test_neighbours_in_two_nodes_have_one_card():
    assert links.neighbours(H100, Group(size=16, stride=1)).rate == pytest.approx(50e9 * 0.8)


def test_an_all_to_all_pays_the_network_for_what_leaves_the_node():
    link = links.pairs(H100, Group(size=16, stride=1))
    assert link.rate == pytest.approx(50e9 * 0.8 * 15 / 8)


@pytest.mark.parametrize(
    ("link", "latency"),
    [
        (links.ring(H100, Group(size=8, stride=1)), 40e-6),
        (links.ring(accelerator("l40s"), Group(size=8, stride=1)), 40e-6),
        (links.ring(H100, Group(size=16, stride=1)), 68e-6),
        (links.ring(H100, Group(size=4, stride=8)), 68e-6),
        (links.ring(replace(H100, network_gb_s=400.0), Group(size=16, stride=1)), 68e-6),
        (links.neighbours(H100, Group(size=16, stride=1)), 68e-6),
        (links.pairs(H100, Group(size=16, stride=1)), 68e-6),
        (links.pairs(H100, Group(size=8, stride=1)), 40e-6),
    ],
)
def test_a_collective_takes_longer_to_begin_between_nodes(link, latency):
    assert link.latency == latency


# 8 GPUs a node: a group that steps over 4 ranks has 2 in each, and so 2 cards.
@pytest.mark.parametrize(("stride", "cards"), [(1, 8), (2, 4), (3, 2), (4, 2), (8, 1), (16, 1)])
def test_a_ring_has_as_many_cards_as_the_group_has_ranks_in_a_node(stride, cards):
    link = links.ring(H100, Group(size=32, stride=stride))
    assert link.rate == pytest.approx(cards * 50e9 * 0.8)
    assert link.name == "network"


@pytest.mark.parametrize(
    ("stride", "leaves"), [(1, 24 / 31), (3, 30 / 31), (4, 30 / 31), (8, 1), (16, 1)]
)
def test_an_all_to_all_has_one_card_for_those_of_a_group_in_other_nodes(stride, leaves):
    link = links.pairs(H100, Group(size=32, stride=stride))
    assert link.rate == pytest.approx(50e9 * 0.8 / leaves)


@pytest.mark.parametrize("how", [links.ring, links.neighbours, links.pairs])
@pytest.mark.parametrize(("gpu", "rate"), [("h100-80gb", 450e9 * 0.8), ("l40s", 32e9 * 0.87)])
def test_inside_a_node_all_go_over_nvlink_or_else_pcie(how, gpu, rate):
    """l40s: PCIe 4.0 x16, 32 GB/s in each direction."""
    assert how(accelerator(gpu), Group(size=8, stride=1)).rate == pytest.approx(rate)


def test_a_ring_of_bridged_cards_in_two_nodes_is_as_fast_as_pcie_at_most():
    fast = replace(accelerator("h100-80gb-pcie"), network_gb_s=50.0)
    link = links.ring(fast, Group(size=16, stride=1))
    assert (link.name, link.rate) == ("PCIe", pytest.approx(64e9 * 0.87))


def test_copies_and_replicas_stand_as_far_apart_as_what_lies_inside_them(settings):
    grouped = settings(data=12, zero=3, shard=4, tensor=2)
    assert links.sharing(grouped) == Group(size=4, stride=2)
    assert links.copies(grouped) == Group(size=3, stride=8)
    apart = settings(data=8, tensor=2, context=2, expert=4, pipeline=3)
    assert links.expert(apart) == Group(size=4, stride=4)
    assert links.replicas(apart) == Group(size=4, stride=8)
    assert links.pipeline(apart) == Group(size=3, stride=32)
    assert links.context(apart) == Group(size=2, stride=2)
