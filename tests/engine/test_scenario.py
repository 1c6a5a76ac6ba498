"""A scenario is right from birth, or says everything that is wrong with it."""

from dataclasses import FrozenInstanceError

import pytest

from engine.catalog import models
from engine.errors import InputError, UnmodelledError
from engine.estimate import ledger
from engine.scenario import Workload


def faults(scenario, **values):
    with pytest.raises(InputError) as caught:
        scenario(**values)
    return {fault.where: fault.what for fault in caught.value.faults}


def test_all_faults_are_listed_at_once(scenario):
    found = faults(
        scenario,
        precision="fp17",
        attention="fast",
        sequence=0,
        micro_batch=-2,
        zero=4,
        dropout=1.5,
        data=8,
        gpus=9,
    )
    assert set(found) == {
        "recipe.precision",
        "recipe.attention",
        "workload.sequence",
        "workload.micro_batch",
        "parallel.zero",
        "recipe.dropout",
        "hardware.gpus",
    }
    assert found["workload.micro_batch"] == "-2 is less than 1"


def test_a_near_name_is_suggested(scenario):
    with pytest.raises(InputError, match="'adamW' is not known; did you mean adamw"):
        scenario(optimizer="adamW")


def test_a_sequence_ends_with_the_position_table(scenario):
    assert (
        "position table ends at 1,024"
        in faults(scenario, name="gpt2", sequence=2048)["workload.sequence"]
    )


def test_gpus_are_the_product_of_the_degrees(scenario):
    assert faults(scenario, data=2, tensor=2, gpus=8)["hardware.gpus"].startswith("8 GPUs")


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"optimizer": "muon", "implementation": "hf"}, "recipe.optimizer"),
        ({"optimizer": "muon", "data": 4, "zero": 1}, "recipe.optimizer"),
        ({"optimizer": "muon", "data": 4, "zero": 3}, "recipe.optimizer"),
        ({"optimizer": "muon", "offload": "cpu"}, "recipe.optimizer"),
        ({"name": "mixtral-8x7b", "optimizer": "muon"}, "recipe.optimizer"),
        ({"optimizer": "paged-adamw-8bit", "offload": "cpu"}, "recipe.optimizer"),
        ({"loss": "chunked", "precision": "autocast"}, "recipe.loss"),
        ({"loss": "fused", "implementation": "hf"}, "recipe.loss"),
        ({"offload": "cpu", "precision": "fp32"}, "offload.optimizer"),
        ({"offload": "cpu", "data": 4}, "offload.optimizer"),
        ({"offload": "nvme", "data": 4, "zero": 1}, "offload.optimizer"),
        ({"tensor": 2}, "parallel.tensor"),
        ({"pipeline": 3}, "parallel.pipeline"),
        ({"context": 2}, "parallel.context"),
        ({"data": 2, "expert": 2}, "parallel.expert"),
        ({"tensor": 2, "sequence_parallel": True}, "parallel.sequence_parallel"),
        ({"precision": "autocast", "data": 2, "zero": 3}, "recipe.precision"),
        ({"precision": "mixed-fp32-grad", "data": 2, "zero": 3}, "recipe.precision"),
        ({"name": "mixtral-8x7b", "precision": "fp32"}, "recipe.precision"),
        ({"name": "deepseek-v3", "implementation": "hf"}, "model"),
        ({"name": "deepseek-v3", "data": 2, "zero": 2}, "parallel.zero"),
    ],
    ids=str,
)
def test_what_is_not_modelled_is_refused_by_name(scenario, values, where):
    with pytest.raises(UnmodelledError) as caught:
        scenario(**values)
    assert where in {fault.where for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("values", "where", "what"),
    [
        ({"tensor": 3}, "parallel.tensor", "3 ranks cannot share 8 key-value heads evenly"),
        ({"pipeline": 2}, "parallel.pipeline", "2 ranks cannot share 3 layers evenly"),
        ({"context": 3}, "parallel.context", "3 ranks cannot share 128 tokens"),
        ({"data": 3, "expert": 2}, "parallel.expert", "2 ranks cannot share 3 data-parallel"),
        ({"context": 16, "exchange": "a2a"}, "parallel.context", "8 key-value heads of a rank"),
        ({"context": 2, "exchange": "star"}, "parallel.exchange", "star"),
        ({"sequence_parallel": True}, "parallel.sequence_parallel", "no tensor ranks"),
        ({"data": 4, "shard": 2}, "parallel.shard", "of 4 under ZeRO-0"),
        ({"data": 4, "shard": 3, "zero": 3}, "parallel.shard", "3 ranks in a group, of 4"),
        ({"data": 4, "shard": 1, "zero": 3}, "parallel.shard", "1 ranks share nothing"),
    ],
    ids=str,
)
def test_a_split_that_leaves_ranks_unequal_is_refused(scenario, values, where, what):
    assert what in faults(scenario, **values)[where]


def test_a_sound_scenario_cannot_change(scenario):
    made = scenario()
    with pytest.raises(FrozenInstanceError):
        made.workload = Workload(sequence=1)


def test_tokens_are_those_of_one_micro_batch(scenario):
    assert scenario(micro_batch=3, sequence=100, gradient_accumulation=9).tokens == 300


@pytest.mark.parametrize("name", models())
def test_the_fused_stack_has_a_ledger_of_each_model_of_the_catalogue(scenario, name):
    assert ledger(scenario(name)).peak > 0
