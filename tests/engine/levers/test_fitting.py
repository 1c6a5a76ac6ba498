"""What makes a scenario fit, in a few words."""

from engine.estimate import fits
from engine.levers.fitting import fitting


def test_a_step_that_lacks_room_for_activations_is_helped_by_recomputing_them(scenario):
    step = scenario("llama-3.2-1b", gpu="a100-40gb", sequence=8192, optimizer="adamw-fused")
    assert fits(step) == "tight"
    assert 'recompute = "full"' in fitting(step)
    assert 'attention = "flash"' not in fitting(step)


def test_many_sequences_are_helped_by_fewer_at_a_time(scenario):
    step = scenario("llama-3.2-1b", sequence=4096, micro_batch=16, optimizer="adamw-fused")
    assert fits(step) == "no"
    assert fitting(step)[0] == "micro_batch = 4, gradient_accumulation = 4"


def test_states_that_are_too_large_are_helped_by_sharding_alone(scenario):
    step = scenario("llama-3-8b", data=8, sequence=512, optimizer="adamw-fused")
    assert fits(step) == "no"
    assert "zero = 3" in fitting(step)
    assert 'recompute = "full"' not in fitting(step)


def test_where_no_single_change_is_enough_several_together_are_told(scenario):
    step = scenario("llama-3-8b", data=8, sequence=8192, micro_batch=32, recompute="full")
    found = fitting(step)
    assert found
    assert all("," in one for one in found)


def test_where_nothing_helps_nothing_is_told(scenario):
    assert fitting(scenario("llama-3.1-405b", sequence=8192, optimizer="sgd")) == ()
