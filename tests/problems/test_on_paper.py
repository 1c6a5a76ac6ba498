"""Sums on paper meet the papers and, within their band, the ledger."""

from dataclasses import replace

import pytest

from engine.catalog import accelerator
from engine.estimate import ledger
from engine.scenario import Hardware, Recipe, Scenario, Workload
from problems import scenarios
from problems.draw import Draw
from problems.exact import saved
from problems.on_paper import layer_terms, on_paper, per_token


def step(model, *, sequence=1024, micro_batch=1, **recipe):
    return Scenario(
        model=scenarios.modelled(model),
        workload=Workload(sequence=sequence, micro_batch=micro_batch),
        recipe=Recipe(**recipe),
        hardware=Hardware(gpu=accelerator("h100-80gb")),
    )


# model, recipe, bytes a token and layer, source
PUBLISHED = [
    (
        "gpt3-175b",
        {"attention": "eager", "dropout": 0.1},
        34 * 12288 + 5 * 96 * 1024,
        "arXiv 2205.05198 equation 2: 34·h + 5·a·s",
    ),
    (
        "gpt3-175b",
        {"attention": "eager", "dropout": 0.1, "recompute": "selective"},
        34 * 12288,
        "arXiv 2205.05198 table 2, selective recomputation",
    ),
    (
        "gpt3-175b",
        {"attention": "eager", "dropout": 0.1, "recompute": "full"},
        2 * 12288,
        "arXiv 2205.05198 table 2, full recomputation",
    ),
    ("gpt3-175b", {"dropout": 0.1}, 34 * 12288, "the same without what FlashAttention drops"),
    ("llama-2-7b", {}, 8 * 4096 + 8 * 4096 + 8 * 11008, "8h + 4q + 4kv + 8f"),
    ("llama-3-8b", {}, 8 * 4096 + 4 * 4096 + 4 * 1024 + 8 * 14336, "8h + 4q + 4kv + 8f"),
]


@pytest.mark.parametrize(("model", "recipe", "each", "source"), PUBLISHED)
def test_a_layer_saves_for_each_token(model, recipe, each, source):
    assert per_token(layer_terms(step(model, **recipe))) == each, source


def test_formulas_of_terms_give_their_bytes():
    for seed in range(60):
        scenario = scenarios.one_gpu_step(Draw("formulas", seed), recomputes=("none", "selective"))
        a = scenario.architecture
        letters = {
            "h": a.hidden, "f": a.ffn, "a·d": a.query_width, "k·d": a.kv_width,
            "a·s": a.heads * scenario.workload.sequence,
        }  # fmt: skip
        for term in layer_terms(scenario):
            total = 0
            for summand in term.formula.split(" + "):
                name = next(n for n in ("a·d", "k·d", "a·s", "h", "f") if summand.endswith(n))
                total += int(summand.removesuffix(name).rstrip("·")) * letters[name]
            assert total == term.each, term


def test_saved_activations_on_paper_are_within_one_percent_of_the_ledger():
    for seed in range(40):
        scenario = scenarios.one_gpu_step(
            Draw("saved", seed), recomputes=("none", "selective", "full")
        )
        paper = on_paper(scenario).saved
        assert paper == pytest.approx(saved(ledger(scenario)), rel=0.01), scenario


def test_peaks_on_paper_are_within_the_band_of_full_credit():
    found = 0
    for seed in range(100):
        scenario = scenarios.run(Draw("peak", seed), low=15, high=100)
        if scenario is not None:
            found += 1
            peak = ledger(scenario).peak
            assert on_paper(scenario).peak == pytest.approx(peak, rel=0.15), scenario
    assert found > 30


def test_a_larger_micro_batch_on_paper_is_the_scenario_with_that_micro_batch():
    one = step("llama-3-8b", recompute="full")
    four = replace(one, workload=replace(one.workload, micro_batch=4))
    assert on_paper(one).times(4) == on_paper(four)
