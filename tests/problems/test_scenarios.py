"""Scenarios are plausible, and nothing of the catalogue is left out for good."""

from engine.catalog import accelerators, models
from problems import scenarios
from problems.draw import Draw
from problems.registry import build

SEEDS = 1500


def test_every_model_appears_in_questions_on_states():
    drawn = {scenarios.any_model(Draw("states", seed)).name for seed in range(SEEDS)}
    assert drawn == set(models())


def test_every_card_appears_on_one_node():
    drawn = {scenarios.gpu_for(Draw("card", seed), 8).name for seed in range(SEEDS)}
    assert drawn == set(accelerators())


def test_beyond_a_node_cards_have_a_link_to_their_peers():
    drawn = [scenarios.gpu_for(Draw("card", seed), 64) for seed in range(100)]
    assert all(gpu.nvlink_gb_s for gpu in drawn)


def test_every_model_that_the_ledger_models_appears_in_questions_on_activations():
    drawn = {
        scenarios.one_gpu_step(Draw("one", seed), recomputes=("none",)).model.name
        for seed in range(SEEDS)
    }
    assert drawn == set(scenarios.trainable())


def test_every_card_and_every_model_appears_in_runs():
    runs = [scenarios.run(Draw("run", seed), low=10, high=100) for seed in range(SEEDS)]
    found = [run for run in runs if run is not None]
    assert {run.hardware.gpu.name for run in found} == set(accelerators())
    assert {run.model.name for run in found} == set(scenarios.trainable())


def test_cards_before_ampere_have_neither_bf16_nor_flash_attention():
    runs = [scenarios.run(Draw("old", seed), low=10, high=100) for seed in range(300)]
    old = [run for run in runs if run and run.hardware.gpu.name.startswith(scenarios.OLD)]
    assert old
    assert {run.recipe.attention for run in old} == {"eager"}
    assert "pure-bf16" not in {run.recipe.precision for run in old}


def test_sequences_stay_within_what_the_model_was_made_for():
    for seed in range(200):
        scenario = scenarios.one_gpu_step(Draw("length", seed), recomputes=("none", "full"))
        assert scenario.workload.sequence <= scenario.model.max_sequence


def test_a_model_that_the_ledger_cannot_model_gives_no_scenario_of_states():
    card = accelerators()["h100-80gb"]
    recipe = ("mixed", "adamw")
    assert scenarios.of_states(models()["mixtral-8x7b"], recipe, card, 0, 1) is None


def test_the_states_of_a_zero_stage_are_on_a_card_that_holds_them():
    for seed in range(60):
        problem = build("zero-states", seed)
        if problem.scenario is not None:
            assert problem.answer.value <= problem.scenario.hardware.gpu.memory
