"""What adapters, a base in 4 bits and inputs on the host cost."""

from dataclasses import replace

import pytest

from engine.costs.flops import micro_batch
from engine.costs.held import held
from engine.costs.step_time import step_time
from engine.estimate import ledger
from engine.levers.registry import levers
from engine.scenario import Adapters, Offload
from engine.stages import stages


def of_stage(settings):
    return micro_batch(settings, stages(settings)[0])


def terms(settings):
    return {term.name: term for term in step_time(settings).terms}


def test_a_frozen_model_has_no_products_for_weight_gradients(scenario):
    whole = scenario("llama-3-8b", sequence=2048)
    frozen = of_stage(replace(whole, adapters=Adapters(rank=1)))
    before = of_stage(whole)
    assert frozen.backward.head == before.backward.head // 2
    assert before.forward.linear < frozen.backward.linear < 1.01 * before.forward.linear


def test_ranks_exchange_the_gradients_of_the_adapters_alone(adapted):
    settings = adapted("llama-3-8b", data=8, rank=16)
    assert held(settings, stages(settings)[0]).parameters == ledger(settings).size("adapters") // 2


def test_a_base_in_4_bits_takes_time_to_be_made_whole(adapted):
    wide, narrow = (adapted("llama-3-8b", base=base) for base in ("16-bit", "4-bit"))
    assert "matrices made whole" not in terms(wide)
    assert terms(narrow)["matrices made whole"].amount == 2 * 5 * 6_979_321_856 // 2
    assert step_time(narrow).seconds > step_time(wide).seconds


def test_inputs_of_all_layers_go_to_the_host_and_back(scenario):
    before = scenario("llama-3-8b", sequence=8192, recompute="full")
    after = replace(before, offload=Offload(activations="cpu"))
    assert terms(after)["activations to the host"].amount == 2 * 8192 * 4096 * 32
    both = {"activations to the host", "activations from the host"}
    assert both == terms(after).keys() - terms(before).keys()


@pytest.mark.parametrize("name", ["LoRA", "QLoRA", "activation offload"])
def test_a_lever_saves_memory_and_is_not_pulled_twice(scenario, name):
    before = scenario("llama-3-8b", sequence=8192, optimizer="adamw-fused")
    lever = levers()[name]
    after = lever.applied(before)
    assert ledger(after).phases["loss"] < ledger(before).phases["loss"]
    assert "already" in lever.applied(after).sentence
