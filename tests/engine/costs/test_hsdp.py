"""What groups of ranks that each shard a whole model send."""

from engine.costs.step_time import step_time


def sent(scenario, **values):
    found = step_time(scenario("llama-3-8b", sequence=4096, zero=3, data=64, **values))
    return {term.name: term for term in found.terms if term.unit == "B"}


def test_groups_gather_inside_and_add_up_between(scenario):
    whole, grouped = sent(scenario), sent(scenario, shard=8)
    assert "gradients reduced between copies" in grouped
    assert "gradients reduced between copies" not in whole
    # (8 - 1) / 8 of the weights in place of (64 - 1) / 64
    ratio = grouped["weights gathered"].amount / whole["weights gathered"].amount
    assert abs(ratio - (7 / 8) / (63 / 64)) < 1e-6
    # each rank's eighth, in an all-reduce over 8 groups: 2 x 7 / 8 of it
    between = grouped["gradients reduced between copies"].amount
    reduced = grouped["gradients reduced"].amount
    assert abs(between / reduced - (2 * 7 / 8 / 8) / (7 / 8)) < 1e-6


def test_weights_are_gathered_inside_a_node_where_a_group_is_one(scenario):
    whole, grouped = sent(scenario), sent(scenario, shard=8)
    assert grouped["weights gathered"].rate > whole["weights gathered"].rate
    # one network card for each rank's shard
    gpu = scenario("llama-3-8b", sequence=4096).hardware.gpu
    assert grouped["gradients reduced between copies"].rate <= gpu.network_gb_s * 1e9
