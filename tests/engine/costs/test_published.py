"""The estimate beside steps that others measured. Nothing is fitted to them."""

import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from step_time import b200, inversions, korthikanti, layers, mpt, rate, time

from engine.costs.step_time import step_time

LAYERS = {row.name: row for row in layers()}
# arXiv 2205.05198 table 4, last column: percent over the first row's 19.6 ms.
OVERHEADS = {
    "sequence parallel": -3,
    "full": 39,
    "selective": 7,
    "selective and sequence parallel": 4,
}
TABLE_5 = {row.name: row for row in korthikanti()}
MPT = list(mpt())
BY_MODEL = {name: list(rows) for name, rows in groupby(b200(), key=lambda row: row.group)}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_takes_the_printed_time_within_ten_percent(name):
    assert LAYERS[name].predicted == pytest.approx(LAYERS[name].seconds, rel=0.1)


@pytest.mark.parametrize("name", OVERHEADS)
def test_recomputation_costs_a_layer_the_printed_overhead_within_three_points(name):
    over = LAYERS[name].predicted / LAYERS["no recompute"].predicted - 1
    assert 100 * over == pytest.approx(OVERHEADS[name], abs=3)


@pytest.mark.parametrize("name", TABLE_5)
def test_a_step_takes_the_printed_time_within_fifteen_percent(name):
    assert TABLE_5[name].predicted == pytest.approx(TABLE_5[name].seconds, rel=0.15)


@pytest.mark.parametrize("model", ["22B", "175B", "530B", "1T"])
def test_selective_recomputation_and_sequence_parallelism_save_about_a_quarter(model):
    """Printed: full recomputation without takes 29 to 32% longer."""
    full, work = TABLE_5[f"{model} full"], TABLE_5[f"{model} work"]
    printed = full.seconds / work.seconds
    assert full.predicted / work.predicted == pytest.approx(printed, abs=0.07)


@pytest.mark.parametrize("group", BY_MODEL)
def test_no_pair_of_measured_b200_runs_is_in_the_other_order(group):
    """Pairs of one model that lie more than 5% apart."""
    found = inversions(BY_MODEL[group], time)
    assert [(one.name, other.name) for one, other in found] == []


# Tokens a second of these have the other order: what tensor parallelism costs is underestimated
# beside a pipeline of few micro-batches, by up to a tenth.
NEAR = {
    ("llama3_70b_tp2_pp1_dp4_l12_mbc4_cef", "llama3_70b_l12_tp1_pp2_dp4_mbc32_cef"),
    ("llama3_70b_l12_tp4_pp1_dp2_mbc4_cef", "llama3_70b_l12_tp1_pp2_dp4_mbc8_cef"),
    ("llama3_405b_l4_tp4_pp1_dp2_mbc4_cef", "llama3_405b_l4_tp1_pp2_dp4_mbc32_cef"),
    ("llama3_405b_l4_tp8_pp1_dp1_mbc4_cef", "llama3_405b_l4_tp1_pp2_dp4_mbc8_cef"),
    ("llama3_405b_l4_tp1_pp2_dp4_mbc32_cef", "llama3_405b_l4_tp8_pp1_dp1_mbc32_cef"),
}


def test_five_of_255_pairs_of_b200_runs_have_another_order_by_tokens_a_second():
    found = {
        (one.name, other.name)
        for rows in BY_MODEL.values()
        for one, other in inversions(rows, rate)
    }
    assert found == NEAR


@pytest.mark.parametrize("group", BY_MODEL)
def test_b200_runs_take_longer_than_estimated(group):
    """Launching kernels and routing experts unevenly, for two, are not counted."""
    errors = [row.error for row in BY_MODEL[group]]
    assert all(-0.4 < error < -0.05 for error in errors)


@pytest.mark.parametrize(
    "row", [row for row in MPT if "a100" in row.group], ids=lambda row: row.name
)
def test_fsdp_on_a100_takes_the_printed_time_within_twenty_percent(row):
    """Up to 4,096 tokens: attention of 2023 was far slower than the products assumed here."""
    if row.settings.workload.sequence > 4096:
        assert row.predicted < row.seconds
    else:
        assert row.predicted == pytest.approx(row.seconds, rel=0.2)


@pytest.mark.parametrize("group", ["MPT, a100-80gb", "MPT, h100-80gb"])
@pytest.mark.parametrize("model", ["7b", "13b", "30b", "70b"])
def test_fsdp_runs_of_one_model_have_the_printed_order(group, model):
    rows = [row for row in MPT if row.group == group and row.name.startswith(f"{model} ")]
    # No recomputation of 13b came with a far smaller micro-batch, and lost to that on H100.
    wrong = [
        pair
        for pair in inversions(rows, rate)
        if len({p.settings.recipe.recompute for p in pair}) == 1
    ]
    assert wrong == []


def test_data_parallelism_over_a_network_costs_a_few_percent():
    """arXiv 2205.05198 section 6.3: 37.83 s become 39.15 s with 8 data ranks, nothing hidden."""
    alone = TABLE_5["530B work"].settings
    parallel = replace(alone.parallel, data=8)
    hardware = replace(alone.hardware, gpus=parallel.ranks)
    many = step_time(replace(alone, parallel=parallel, hardware=hardware))
    reduced = next(term for term in many.terms if term.name == "gradients reduced")
    assert 0.5 < reduced.busy_seconds / (39.15 - 37.83) < 1.5
