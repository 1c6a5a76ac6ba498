"""The second step: what the optimizer made, read off a log and reached by hand."""

import re
from fractions import Fraction

import pytest

from engine.units import MIB
from problems.registry import build

SEEDS = range(10)


def printed(problem):
    return [int(row.replace(",", "")) for row in re.findall(r"([\d,]+) MiB", problem.exhibit)]


def test_a_published_log_is_of_875_million_parameters():
    # NVIDIA/Megatron-LM#640: 17.5 GB at the first global batch, 24.5 GB at every later one.
    assert (Fraction("24.5") - Fraction("17.5")) / 8 == Fraction("0.875")
    problem = next(p for p in map(drawn_mid, SEEDS) if "fp32 moments" in p.solution[-2].text)
    first, later, *_ = printed(problem)
    by_hand = (later - first) * MIB / 8
    assert abs(problem.answer.value / by_hand - 1) < Fraction(1, 100)


def drawn_mid(seed):
    return build("moments-appear", 2 * seed + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_share_of_a_rank_is_its_part_of_the_model(seed):
    problem = drawn_mid(seed)
    x = problem.scenario
    ranks = x.parallel.data if x.parallel.zero else 1
    share = x.architecture.parameters / ranks
    # Shards are padded to whole rows.
    assert share <= problem.answer.value * 1.0001
    assert problem.answer.value <= 1.1 * share


def test_a_forecast_is_the_first_peak_and_eight_bytes_a_parameter():
    for seed in SEEDS:
        problem = build("moments-appear", 2 * seed)
        owned = int(re.search(r"steps ([\d,]+) parameters", problem.prompt)[1].replace(",", ""))
        width = 2 if problem.scenario.recipe.precision == "pure-bf16" else 4
        tensors = 1 if "momentum" in problem.scenario.recipe.optimizer else 2
        (first,) = printed(problem)
        by_hand = first * MIB + owned * width * tensors
        assert abs(by_hand - problem.answer.value) <= MIB
