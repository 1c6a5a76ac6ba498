"""Conditions and number are marked apart: the number by the run that was stated."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from engine.catalog import accelerators, models
from engine.estimate import model_states
from engine.scenario import Hardware, Recipe, Scenario, Workload
from engine.units import GB
from problems.answers.conditions import ConditionsAnswer
from problems.registry import build
from problems.scenarios import modelled
from problems.stated import CONDITIONS, Stated, configured, in_words, others, size
from quiz.grading import Unreadable, grade
from quiz.marking.registry import marker_of, request_of

SEEDS = 100
KINDS = ("conditions-first", "activations-conditions")
ALL = tuple(CONDITIONS)


@pytest.fixture
def seven(make_problem):
    """Full fine-tuning of Llama 2 7B, nothing else said."""
    base = Scenario(
        model=modelled("llama-2-7b"),
        workload=Workload(sequence=4096),
        recipe=Recipe(optimizer="adamw-fused"),
        hardware=Hardware(gpu=accelerators()["h100-80gb"]),
    )
    answer = ConditionsAnswer(
        open=ALL, measure="peak", value=Fraction(size(base, "peak")), example="mixed precision"
    )
    return replace(make_problem(answer), scenario=base)


@cache
def drawn(kind):
    return tuple(build(kind, seed) for seed in range(SEEDS))


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


STATED = "bf16 mixed, AdamW, b=1, s=4096, flash, full recompute, 1 GPU"


@pytest.mark.parametrize(
    ("typed", "score"),
    [
        (f"{STATED}: 108 GB", 1),
        (f"{STATED}: 118 GB", 1),
        (f"{STATED}: 140 GB", Fraction(3, 4)),
        (f"{STATED}: 200 GB", Fraction(5, 8)),
        (f"{STATED}: 1 GB", Fraction(1, 2)),
        # Four of seven conditions are 2/7 of the credit.
        ("bf16 mixed, AdamW, b=1, s=4096: 116 GB", Fraction(2, 7) + Fraction(1, 2)),
        ("116 GB", Fraction(1, 2)),
        ("1 GB", 0),
    ],
)
def test_conditions_and_number_are_half_of_the_credit_each(seven, typed, score):
    assert marked(seven, typed).score == score


@pytest.mark.parametrize(
    ("each", "gb"), [(8, 54), (10, 68), (12, 81), (16, 108), (18, 121), (20, 135)]
)
def test_a_convention_of_ones_own_is_graded_by_itself(seven, each, gb):
    verdict = marked(
        seven, f"{each} bytes per parameter, b=1, s=4096, flash, ckpt, 1 GPU: {gb} GB"
    )
    assert verdict.score == 1
    assert verdict.reading.startswith(f"{each} bytes a parameter, b = 1")


def test_a_decisive_condition_that_is_missing_is_named_with_what_it_would_change(seven):
    verdict = marked(seven, "bf16 mixed, AdamW, b=1, flash, full recompute, 1 GPU: 108 GB")
    assert verdict.mistake is None
    assert "Not stated: the length of the sequences." in verdict.feedback
    verdict = marked(seven, "AdamW, b=1, s=4096, flash, full recompute, 1 GPU: 108 GB")
    assert verdict.mistake == "a decisive condition left out"
    assert "overturn the answer: the precision (pure bf16: 5" in verdict.feedback
    assert "Assumed for you: mixed precision." in verdict.feedback


def test_a_number_that_is_off_is_told_by_how_much(seven):
    assert "Your number is 30% too high." in marked(seven, f"{STATED}: 141 GB").feedback
    assert "too low by a factor of 10.8." in marked(seven, f"{STATED}: 10 GB").feedback


def test_the_terms_of_the_stated_run_are_shown_and_add_up_to_its_size(seven):
    feedback = marked(seven, "mixed, AdamW, b=4, s=512, ckpt, ZeRO-2 over 8 GPUs: 5 GB").feedback
    terms = feedback.partition("At the ")[2].partition(" GB. ")[0]
    shown = [float(one) for one in re.findall(r"(\d+\.\d+)(?: GB|$)", terms)]
    stated = Stated(micro_batch=4, sequence=512, recompute="full", zero=2, gpus=8)
    exact = size(configured(seven.scenario, stated), "peak") / GB
    assert f"{exact:.2f} GB" in feedback
    assert "weights 13.48 GB" in terms
    assert abs(sum(shown) - exact) < 0.05


def test_the_terms_of_the_example_are_not_shown_twice(seven):
    base = ", ".join(in_words(key, seven.scenario) for key in CONDITIONS)
    assert "weights" not in marked(seven, f"{base}: 5 GB").feedback


def test_bytes_a_parameter_of_ones_own_are_a_term(seven):
    stated = "18 bytes per parameter, b=1, s=4096, flash, ckpt, 1 GPU: 5 GB"
    # 2 bytes for each of 6.74 billion parameters.
    assert "13.48 GB more at your bytes a parameter." in marked(seven, stated).feedback


def test_activations_of_the_stated_run_are_shown_as_a_product():
    feedback = marked(build("activations-conditions", 11), "b=4, s=512, ckpt: 9 GB").feedback
    # Llama 3 70B: the fp32 input of each layer, 8,192 wide.
    assert "80 layers × 2,048 tokens × 32,768 bytes." in feedback


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_of_the_stated_run_is_said_to_be_of_the_example(kind):
    for problem in drawn(kind)[:20]:
        exact = [step.text for step in problem.solution if step.depth == "exact"]
        assert all(text.startswith("the example ") for text in exact)


def test_the_number_is_that_of_the_run_that_was_stated(seven):
    typed = "pure bf16, AdamW, b=1, s=4096, flash, full recompute, ZeRO-3 over 8 GPUs"
    run = configured(
        seven.scenario, Stated(precision="pure-bf16", recompute="full", zero=3, gpus=8)
    )
    gb = size(run, "peak") / GB
    assert marked(seven, f"{typed}: {gb:.3g} GB").score == 1
    assert marked(seven, f"{typed}: {3 * gb:.3g} GB").score == Fraction(1, 2)


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("b=1 purple: 5 GB", "not understood"),
        (
            "autocast, ZeRO-3 over 8 GPUs: 5 GB",
            "cannot be computed: autocast with ZeRO-3",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused(seven, typed, reason):
    found = grade(seven, typed)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_what_the_question_gives_cannot_be_stated_otherwise(seven):
    answer = replace(seven.answer, open=("micro-batch",), given=("optimizer",))
    found = grade(replace(seven, answer=answer), "SGD, b=1: 80 GB")
    assert found.reason == "the question gives the optimizer: AdamW; type no other"
    assert marked(replace(seven, answer=answer), "AdamW, b=1: 116 GB").score == 1


def test_the_states_alone_are_those_of_7b_times_16():
    # lm-sys/FastChat#1110 and many others: 7B × 16 bytes, with little else on top.
    parameters = models()["llama-2-7b"].parameters
    assert sum(model_states(parameters, precision="mixed").values()) == 16 * parameters


def test_no_example_of_a_condition_stands_below_the_question(seven):
    assert "118 GB" in request_of(seven.answer).wants
    assert "batch" not in request_of(seven.answer).wants


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_earns_all_of_the_credit(kind):
    for problem in drawn(kind)[:40]:
        typed = f"{problem.answer.example}: {float(problem.answer.value) / GB:.4g} GB"
        assert marked(problem, typed).score == 1, (problem.id, typed)


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_differ_from_seed_to_seed_and_none_is_given_and_open(kind):
    problems = drawn(kind)
    assert len({problem.prompt for problem in problems}) == SEEDS
    assert not any({*x.answer.open} & {*x.answer.given} for x in problems)
    assert len({x.answer.open for x in problems}) >= 2
    values = [x.answer.value for x in problems]
    assert max(values) > 20 * min(values)


def test_three_conditions_decide_activations():
    # yongjin360.com/news/266850: micro-batch, length, and whether they are recomputed.
    problem = build("activations-conditions", 0)
    assert problem.answer.open == ("micro-batch", "length", "recomputation")
    for key in problem.answer.open[::2]:
        other = next(others(key, problem.scenario))
        ratio = size(other, "activations") / float(problem.answer.value)
        assert max(ratio, 1 / ratio) > 4
        assert in_words(key, other) != in_words(key, problem.scenario)


def test_conditions_without_a_number_earn_their_half(seven):
    verdict = marked(seven, STATED)
    assert (verdict.score, verdict.reading.endswith(", without a number")) == (
        Fraction(1, 2),
        True,
    )
    assert "The number is the other half." in verdict.feedback


def test_the_number_may_come_in_the_next_line(seven):
    halves = marker_of(seven.answer).halves
    assert halves.lacks(marked(seven, STATED))
    assert not halves.lacks(marked(seven, f"{STATED}: 108 GB"))
    assert marked(seven, halves.lead(STATED, "108 GB") + "108 GB").score == 1
    assert halves.lead(STATED, "b=1: 5 GB") == ""
    assert "Enter alone leaves it out" in halves.lead(STATED, "flash").reason
