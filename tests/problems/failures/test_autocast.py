"""Casts of the weights under autocast: two bytes of each parameter that is multiplied with."""

from dataclasses import replace

import pytest

from engine.catalog import models
from engine.estimate import ledger
from problems.registry import build

SEEDS = range(16)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_parameter_of_a_matrix_is_cast_once(seed):
    problem = build("autocast-casts", seed)
    a = problem.scenario.architecture
    width = a.heads * a.head_dim
    kv = a.kv_heads * a.head_dim
    matrices = a.layers * (2 * a.hidden * (width + kv) + (3 if a.gated else 2) * a.hidden * a.ffn)
    by_hand = 2 * (matrices + a.vocab * a.hidden)
    # Biases are cast too; they are few.
    assert 0.998 * problem.answer.value <= by_hand <= problem.answer.value


def test_a_cast_adds_two_bytes_a_parameter():
    # pytorch/pytorch#61173: a stack of linear layers takes more under autocast than without.
    gpt2 = models()["gpt2-xl"].architecture
    assert gpt2.tied
    for seed in range(400):
        problem = build("autocast-casts", seed)
        if problem.scenario.model.name == "gpt2-xl":
            assert abs(problem.answer.value / (2 * gpt2.parameters) - 1) < 0.01
            return
    raise AssertionError


@pytest.mark.parametrize("precision", ["autocast", "fp32"])
def test_the_card_holds_the_run_with_autocast_and_without(precision):
    for seed in SEEDS:
        problem = build("autocast-casts", seed)
        x = problem.scenario
        run = replace(x, recipe=replace(x.recipe, precision=precision))
        assert ledger(run).peak < x.hardware.gpu.memory, problem.id
