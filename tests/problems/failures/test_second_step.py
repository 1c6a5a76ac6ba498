"""Between the first two steps: the driver's figures, less what the optimizer made."""

import re

from engine.estimate import model_states
from engine.units import GB, MIB
from problems.registry import build

SEEDS = range(16)


def test_a_published_run_has_moments_and_cache():
    # jquesnelle/yarn#23: 14 GB after loading and 77 GB after the first batch, of 80 GB.
    states = model_states(6_738_415_616, precision="mixed")
    loaded, added = states["weights"] / GB, states["optimizer states"] / GB
    assert 13 < loaded < 14
    assert added < 77 - 14 < added + 10


def test_the_rise_less_the_states_is_the_cache():
    for seed in SEEDS:
        problem = build("second-step", seed)
        first, later = (
            int(size.replace(",", "")) * MIB
            for size in re.findall(r"([\d,]+) MiB", problem.exhibit)
        )
        owned = int(re.search(r"steps ([\d,]+) parameters", problem.prompt)[1].replace(",", ""))
        width = 2 if problem.scenario.recipe.precision == "pure-bf16" else 4
        tensors = 1 if "momentum" in problem.scenario.recipe.optimizer else 2
        by_hand = later - first - width * tensors * owned
        assert abs(by_hand / problem.answer.value - 1) < 0.01, problem.id


def test_the_process_fits_its_card_and_has_more_than_weights():
    for seed in SEEDS:
        problem = build("second-step", seed)
        later = int(re.findall(r"([\d,]+) MiB", problem.exhibit)[1].replace(",", "")) * MIB
        assert problem.answer.value < later <= problem.scenario.hardware.gpu.memory


def test_the_prompt_says_what_the_difference_of_two_readings_rests_on():
    for seed in SEEDS:
        problem = build("second-step", seed)
        assert "Before step 1 PyTorch's cache was empty" in problem.prompt
        assert "outside of PyTorch" in problem.prompt
        several = problem.scenario.hardware.gpus > 1
        assert ("communicators" in problem.prompt) == several, problem.id
