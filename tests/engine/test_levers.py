"""Single changes that make a step fit: each is offered where it alone is enough."""

from dataclasses import replace

import pytest

from engine.estimate import fits
from engine.levers import LEVERS, fitting


def said(scenario):
    return [lever.says for lever in fitting(scenario)]


def test_a_step_that_lacks_room_for_activations_is_helped_by_recomputing_them(scenario):
    step = scenario("llama-3.2-1b", gpu="a100-40gb", sequence=8192, optimizer="adamw-fused")
    assert fits(step) == "tight"
    assert 'recompute = "full"' in said(step)
    assert 'attention = "flash"' not in said(step)


def test_many_sequences_are_helped_by_one_at_a_time(scenario):
    step = scenario("llama-3.2-1b", sequence=4096, micro_batch=16, optimizer="adamw-fused")
    assert fits(step) == "no"
    assert said(step)[0] == "a smaller micro_batch, with gradient accumulation"


def test_states_that_are_too_large_are_helped_by_sharding_alone(scenario):
    step = scenario("llama-3-8b", data=8, sequence=512, optimizer="adamw-fused")
    assert fits(step) == "no"
    assert said(step)[-1] == "zero = 3"
    assert 'recompute = "full"' not in said(step)


def test_what_no_single_change_helps_is_offered_none(scenario):
    assert said(scenario("llama-3.1-405b", sequence=8192)) == []


@pytest.mark.parametrize("lever", LEVERS, ids=lambda lever: lever.says)
def test_a_change_that_is_made_already_is_not_made_again(scenario, lever):
    once = scenario(data=4, micro_batch=4, attention="eager")
    changed = lever.change(once)
    while changed is not None and changed != once:
        once, changed = changed, lever.change(changed)
    assert changed is None


def test_a_smaller_micro_batch_keeps_the_sequences_of_a_step(scenario):
    step = scenario(micro_batch=8, gradient_accumulation=2)
    changed = LEVERS[0].change(step)
    assert changed == replace(
        step, workload=replace(step.workload, micro_batch=1, gradient_accumulation=16)
    )


def test_a_change_that_the_ledger_does_not_model_is_left_out(scenario):
    step = scenario("llama-3-8b", implementation="hf", sequence=8192)
    assert 'recompute = "selective"' not in said(step)
