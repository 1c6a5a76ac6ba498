"""Plans, held to trying every setting one by one: a small part of `make plans`."""

import sys
from itertools import product
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from plans import compared, drawn

from engine.costs.step_time import step_time
from engine.estimate import capacity, fits, ledger
from engine.levers.plans import _Prices, plans
from engine.levers.registry import levers
from engine.levers.space import BACK, settings
from engine.levers.ties import TIE

SEEDS = range(5000, 5024)
# One of them takes half of the time, and its runs are tried without headroom too.
LONG = pytest.param(1, 25, marks=pytest.mark.long)
PARTS = [LONG if row == (1, 25) else row for row in product(range(4), (0, 25))]


@pytest.mark.parametrize(("part", "headroom"), PARTS)
def test_plans_are_those_of_brute_force(part, headroom):
    for seed in SEEDS[part::4]:
        made = drawn(seed)
        assert made is None or compared(made, headroom=headroom), seed


def test_a_plan_that_is_told_to_fit_does():
    told = 0
    for made in filter(None, map(drawn, SEEDS)):
        for plan in plans(made).plans:
            book = ledger(plan.scenario)
            assert fits(plan.scenario) == "yes"
            assert (plan.peak, plan.spare) == (
                book.peak,
                capacity(plan.scenario) - book.nvidia_smi[1],
            )
            told += 1
    assert told > len(SEEDS)


def test_a_plan_keeps_gpus_and_sequences_and_names_what_it_pulls():
    for made in filter(None, map(drawn, SEEDS)):
        for plan in plans(made).plans:
            work, before = plan.scenario.workload, made.workload
            assert plan.scenario.hardware == made.hardware
            assert work.micro_batch * work.gradient_accumulation * plan.scenario.parallel.data == (
                before.micro_batch * before.gradient_accumulation * made.parallel.data
            )
            assert set(plan.levers) <= set(levers()) | set(BACK)
            assert plan.levers


def test_headroom_stays_free(scenario):
    step = scenario("llama-3-8b", data=8, sequence=4096, micro_batch=4)
    for headroom in (0, 20, 40):
        for plan in plans(step, headroom=headroom).plans:
            shown = ledger(plan.scenario).nvidia_smi[1]
            assert 100 * shown <= (100 - headroom) * capacity(step)


def test_more_headroom_never_lets_more_settings_fit(scenario):
    step = scenario("llama-3-8b", data=8, sequence=4096, micro_batch=4)
    fitting = [plans(step, headroom=headroom).fitting for headroom in (0, 20, 40, 60, 80)]
    assert fitting == sorted(fitting, reverse=True)
    assert fitting[0] > fitting[-1]


def test_numerics_change_only_where_nothing_else_fits(scenario):
    roomy = scenario("llama-3.2-1b", sequence=512, optimizer="adamw-fused")
    assert all("8-bit optimizer" not in plan.levers for plan in plans(roomy).plans)
    tight = scenario(
        "llama-3.2-3b",
        gpu="rtx-3090",
        sequence=256,
        precision="pure-bf16",
        recompute="full",
        optimizer="adamw-fused",
        loss="fused",
    )
    found = plans(tight).plans
    assert found
    assert all("8-bit optimizer" in plan.levers for plan in found)


def test_what_fits_already_is_only_made_faster(scenario):
    step = scenario("llama-3.2-1b", sequence=512, micro_batch=2, attention="eager")
    assert fits(step) == "yes"
    assert all(plan.overhead < -TIE for plan in plans(step).plans)


@pytest.mark.parametrize(
    ("pulled", "back"),
    [
        ({"recompute": "full"}, "less recompute"),
        ({"offload": "cpu"}, "less offload"),
        ({"micro_batch": 1, "gradient_accumulation": 64, "sequence": 128}, "larger micro-batch"),
    ],
)
def test_a_run_with_room_to_spare_takes_a_lever_back(scenario, pulled, back):
    step = scenario("llama-3.2-1b", **({"sequence": 2048, "data": 8, "zero": 3} | pulled))
    first = plans(step).plans[0]
    assert back in first.levers
    assert first.overhead < -TIE
    assert fits(first.scenario) == "yes"


def test_a_split_that_is_not_needed_is_taken_back(scenario):
    step = scenario(
        "llama-3.2-1b",
        implementation="megatron",
        precision="mixed-fp32-grad",
        optimizer="adamw-fused",
        loss="fused",
        sequence=1024,
        tensor=8,
        data=2,
        sequence_parallel=True,
        zero=1,
    )
    assert any("less tensor parallel" in plan.levers for plan in plans(step).plans)


def test_nothing_fits_a_model_that_is_too_large(scenario):
    found = plans(scenario("llama-3.1-405b", sequence=8192, data=8))
    assert (found.plans, found.fitting) == ((), 0)


def test_a_bound_is_never_above_what_it_bounds():
    for made in filter(None, map(drawn, SEEDS)):
        every = list(settings(made))
        prices = _Prices(max(one.scenario.workload.micro_batch for one in every))
        for setting in every[::7]:
            one = setting.scenario
            seconds = step_time(one).seconds
            assert prices.rough(one) <= prices.near(one) <= prices.exact(one) == seconds


def test_the_scenario_itself_is_a_setting_without_levers():
    for made in filter(None, map(drawn, SEEDS)):
        every = list(settings(made))
        (own,) = (one for one in every if not any(one.degrees))
        assert (own.scenario, own.levers) == (made, ())
        assert len({one.scenario for one in every}) == len(every)


def test_shards_of_groups_are_widened_before_the_optimizer_leaves_the_gpu(scenario):
    step = scenario("llama-3-8b", data=16, zero=3, shard=2, sequence=8192, gradient_accumulation=4)
    assert fits(step) == "no"
    first = plans(step).plans[0]
    assert "wider shards" in first.levers
    assert first.scenario.parallel.shard == 0
    assert not any("offload" in name for name in first.levers)


def test_what_a_tie_hides_hides_nothing(scenario):
    """Micro-batches of 2 are no 5% faster than of 1, but those of 4 are."""
    step = scenario(
        "llama-3.2-1b",
        gpu="a100-40gb",
        data=4,
        zero=3,
        sequence=2048,
        gradient_accumulation=8,
        recompute="full",
        optimizer="adamw-fused",
        loss="fused",
    )
    first, second = plans(step).plans[:2]
    assert first.levers == ("larger micro-batch", "less recompute")
    assert second.levers == ("less recompute",)
    assert first.overhead < second.overhead - TIE


def test_a_run_that_fits_is_not_moved_to_another_stack_for_its_kernels(scenario):
    step = scenario("llama-3.2-1b", data=8, sequence=2048, recompute="full")
    assert fits(step) == "yes"
    assert all(plan.scenario.implementation == "fused" for plan in plans(step).plans)
