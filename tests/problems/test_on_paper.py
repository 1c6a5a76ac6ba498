"""Sums on paper meet the papers and, within their band, the ledger."""

import re
from dataclasses import replace
from fractions import Fraction
from math import prod

import pytest

from engine.catalog import accelerator
from engine.estimate import ledger
from engine.ledger import Phase
from engine.scenario import Hardware, Recipe, Scenario, Workload
from problems import scenarios
from problems.amounts import (
    BEFORE_STEP,
    EMBEDDING,
    END,
    FIRST_LAYER,
    FULL,
    HEAD,
    LAST_LAYER,
    LOSS,
    NEXT_LAYER,
    SAVED,
    SECOND_LAYER,
    STEP,
    in_billions,
)
from problems.draw import Draw
from problems.exact import saved
from problems.layers import layer_terms, per_token, working_set
from problems.on_paper import on_paper
from problems.wording import paper


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
    for seed in range(120):
        scenario = scenarios.one_gpu_step(
            Draw("formulas", seed), recomputes=("none", "selective", "full")
        )
        a = scenario.architecture
        letters = {
            "h": a.hidden, "f": a.ffn, "a·d": a.query_width, "k·d": a.kv_width,
            "a·s": a.heads * scenario.workload.sequence,
        }  # fmt: skip
        for term in (*layer_terms(scenario), working_set(scenario)):
            total = 0
            for summand in term.formula.replace(" - ", " + -").split(" + "):
                name = next(n for n in ("a·d", "k·d", "a·s", "h", "f") if summand.endswith(n))
                total += int(summand.removesuffix(name).rstrip("·")) * letters[name]
            assert total == term.each, term


def test_saved_activations_on_paper_are_within_one_percent_of_the_ledger():
    for seed in range(40):
        scenario = scenarios.one_gpu_step(
            Draw("saved", seed), recomputes=("none", "selective", "full")
        )
        loss = next(m for m in on_paper(scenario).moments if m.said == LOSS)
        paper = next(x.size for x in loss.amounts if x.name == SAVED)
        assert paper == pytest.approx(saved(ledger(scenario)), rel=0.01), scenario


def runs(stages=(0, 1, 2, 3), seeds=250):
    drawn = (scenarios.run(Draw("run", seed), low=10, high=110) for seed in range(seeds))
    found = [run for run in drawn if run is not None and run.parallel.zero in stages]
    assert len(found) > 10 * len(stages)
    return found


PHASES = {
    LOSS: (Phase.LOSS,),
    HEAD: (Phase.LOSS,),
    LAST_LAYER: (Phase.BACKWARD_FIRST,),
    FULL: (Phase.BACKWARD_FIRST,),
    NEXT_LAYER: (Phase.BACKWARD_FIRST,),
    SECOND_LAYER: (Phase.BACKWARD_LAST,),
    FIRST_LAYER: (Phase.BACKWARD_LAST,),
    EMBEDDING: (Phase.BACKWARD_LAST,),
    END: (Phase.BACKWARD_LAST, Phase.REDUCE),
    BEFORE_STEP: (Phase.STEP,),
    STEP: (Phase.STEP,),
}


def test_no_moment_on_paper_has_more_than_its_phase_of_the_ledger():
    for scenario in runs():
        phases = ledger(scenario).phases
        for moment in on_paper(scenario).moments:
            most = max(phases.get(phase, 0) for phase in PHASES[moment.said])
            assert moment.size <= 1.01 * most, (moment.said, scenario)


def test_peaks_on_paper_lack_small_lines_only():
    for scenario in runs():
        peak = ledger(scenario).peak
        assert 0.9 * peak <= on_paper(scenario).peak <= 1.01 * peak, scenario


def test_the_reduce_bucket_is_there_while_gradients_come():
    for scenario in runs(stages=(1, 2)):
        work = scenario.workload
        sizes = [size for line, size in zip_lines(scenario) if line.name == "reduce bucket"]
        gone = {BEFORE_STEP, STEP}
        if scenario.parallel.zero == 2 or work.gradient_accumulation == 1:
            gone.add(LOSS)
        for moment in on_paper(scenario).moments:
            found = [x.size for x in moment.amounts if x.name == "reduce bucket"]
            assert found == ([] if moment.said in gone else sizes)


def test_ddp_buckets_are_there_always():
    seen = 0
    for scenario in runs(stages=(0,)):
        sizes = {line.name: size for line, size in zip_lines(scenario)}
        for moment in on_paper(scenario).moments:
            found = [x.size for x in moment.amounts if x.name == "DDP's buckets"]
            assert found == ([sizes["DDP buckets"]] if "DDP buckets" in sizes else [])
            seen += len(found)
    assert seen


def zip_lines(scenario):
    book = ledger(scenario)
    return zip(book.lines, book.sizes, strict=True)


@pytest.mark.parametrize(
    ("moment", "lines"),
    [
        (LOSS, ("gathered embedding and head", "gathered layer")),
        (LAST_LAYER, ("gathered embedding and head", "gathered layers")),
        (NEXT_LAYER, ("gathered embedding and head", "gathered layers")),
        (END, ("gathered embedding and head",)),
    ],
)
def test_what_is_gathered_under_zero_3_is_what_the_ledger_has_gathered(moment, lines):
    for scenario in runs(stages=(3,)):
        book = ledger(scenario)
        found = [
            x.size
            for m in on_paper(scenario).moments
            for x in m.amounts
            if m.said == moment and x.name.startswith("gathered")
        ]
        exact = sum(book.size(name) for name in lines)  # shards are padded to whole rows
        assert found == [pytest.approx(exact, rel=0.01)] * len(found)
        assert found


def test_products_on_paper_give_their_sizes():
    for scenario in runs():
        for moment in on_paper(scenario).moments:
            for x in moment.amounts:
                assert product(x.said) == pytest.approx(x.size, rel=0.006), (x, scenario)


def product(said):
    """The value of "2 + 14/8 = 3.75 bytes × 7.24 billion parameters" and its like."""
    said = re.sub(r"\([^=]*= ([\d,]+) bytes\)", r"\1", said)
    said = re.sub(r"^[^=×]*= |one layer, |,(?=\d)", "", said)
    said = re.sub(r"(layers|tokens|bytes|byte|parameters|vocabulary entries)", "", said)
    return sum(
        prod(
            float(Fraction(factor.split()[0])) * (1e9 if "billion" in factor else 1)
            for factor in term.split("×")
        )
        for term in said.split(" + ")
    )


def test_a_larger_micro_batch_on_paper_is_the_scenario_with_that_micro_batch():
    one = step("llama-3-8b", recompute="full")
    four = replace(one, workload=replace(one.workload, micro_batch=4))
    assert on_paper(one).times(4) == on_paper(four)


@pytest.mark.parametrize(
    ("each", "parameters", "said"),
    [
        (1, 1_543_714_304, "1.54 billion"),
        (8, 8_190_735_360, "8.19 billion"),
        (3, 1_543_714_304, "1.544 billion"),  # 4.62 with three digits; it is 4.631
    ],
)
def test_a_product_on_paper_is_that_of_the_digits_that_are_shown(each, parameters, said):
    assert in_billions(parameters, each) == said
    shown = Fraction(said.removesuffix(" billion")) * 10**9
    assert paper(each * shown) == paper(each * parameters)
