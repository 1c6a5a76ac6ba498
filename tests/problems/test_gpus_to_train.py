"""The fewest GPUs on which a whole step fits: half of them do not hold it."""

import re
from dataclasses import replace
from functools import cache

from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Phase
from problems.registry import build

SEEDS = range(30)


@cache
def drawn():
    return tuple(build("fewest-gpus-to-train", seed) for seed in SEEDS)


def on(problem, gpus):
    x = problem.scenario
    return replace(
        x,
        parallel=replace(x.parallel, data=gpus),
        hardware=replace(x.hardware, gpus=gpus),
    )


def room(problem):
    percent = int(re.search(r"stay within (\d+)%", problem.prompt)[1])
    return problem.scenario.hardware.gpu.memory * percent // 100


def named(problem, name):
    return next((m for m in problem.mistakes if m.name == name), None)


def test_the_step_fits_on_these_and_not_on_half_of_them():
    for problem in drawn():
        gpus = problem.answer.value
        assert ledger(on(problem, gpus)).peak <= room(problem)
        assert ledger(on(problem, gpus // 2)).peak > room(problem)


def test_a_number_of_gpus_is_a_power_of_2_and_stands_nowhere_in_the_question():
    for problem in drawn():
        gpus = problem.answer.value
        assert gpus & (gpus - 1) == 0
        assert f"on {gpus} ×" not in problem.prompt
        assert f"{gpus} GPUs" not in problem.prompt


def test_weights_gradients_and_states_alone_would_fit_on_fewer():
    seen = 0
    for problem in drawn():
        slip = named(problem, "model states alone")
        if slip:
            gpus = int(slip.value)
            assert gpus < problem.answer.value
            book = ledger(on(problem, gpus))
            held = book.total(*MODEL_STATES, phase=Phase.STEP)
            assert held <= 1.02 * room(problem) < 1.1 * book.peak
            seen += 1
    assert seen > 8


def test_the_share_of_the_card_counts():
    seen = 0
    for problem in drawn():
        slip = named(problem, "share forgotten")
        if slip:
            peak = ledger(on(problem, int(slip.value))).peak
            assert room(problem) < peak <= 1.05 * problem.scenario.hardware.gpu.memory
            seen += 1
    assert seen > 0


def test_what_every_gpu_has_whole_is_part_of_the_question():
    for problem in drawn():
        steps = "\n".join(step.text for step in problem.solution)
        assert "saved activations" in steps
