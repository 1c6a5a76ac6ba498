"""Throughput of sharding and recomputation, reached a second way from the prompt's own numbers."""

import re
from dataclasses import replace
from functools import cache

import pytest

from engine.costs.flops import micro_batch
from engine.estimate import ledger
from engine.stages import stages
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.registry import build

SEEDS = range(60)


@cache
def answered(type_):
    problems = (build("sharding-throughput", seed) for seed in SEEDS)
    return tuple(problem for problem in problems if isinstance(problem.answer, type_))


def rates(problem):
    """FLOP/s and bytes a second in the prompt."""
    flops = re.search(r"computes ([\d.,]+) TFLOP/s", problem.prompt)[1].replace(",", "")
    wire = re.search(r"([\d.]+) GB/s", problem.prompt)[1]
    return float(flops) * 1e12, float(wire) * 1e9


def ring(problem):
    ranks = problem.scenario.parallel.data
    return (ranks - 1) / ranks


def named(problem, name):
    return next((m for m in problem.mistakes if m.name == name), None)


def test_all_three_questions_are_asked():
    kinds = (YesNoAnswer, QuantityAnswer, FactorAnswer)
    assert all(len(answered(kind)) >= 10 for kind in kinds)


def test_gathering_takes_2_bytes_a_parameter_over_the_ring():
    for problem in answered(YesNoAnswer):
        _, wire = rates(problem)
        seconds = 2 * problem.scenario.architecture.parameters * ring(problem) / wire
        assert float(problem.answer.proof.value) == pytest.approx(seconds, rel=1e-6)


def test_gathering_hides_where_it_is_shorter_than_the_forward_pass_by_a_fifth():
    for problem in answered(YesNoAnswer):
        flops, _ = rates(problem)
        x = problem.scenario
        sends = float(problem.answer.proof.value)
        paper = 2 * x.architecture.parameters * x.tokens / flops
        counted = micro_batch(x, stages(x)[0]).forward.total / flops
        for computes in (paper, counted):
            assert (sends < computes) == problem.answer.value
            assert abs(computes / sends - 1) > 0.19


def test_gathering_hides_as_often_as_not():
    verdicts = [problem.answer.value for problem in answered(YesNoAnswer)]
    assert 0.2 <= sum(verdicts) / len(verdicts) <= 0.8


def test_tokens_at_which_sending_takes_as_long_as_computing():
    for problem in answered(QuantityAnswer):
        flops, wire = rates(problem)
        sent = 4 + (4 if "reduce-scattered in fp32" in problem.prompt else 2)
        work = 8 if "full recomputation" in problem.prompt else 6
        tokens = sent * ring(problem) / wire * flops / work
        assert float(problem.answer.value) == pytest.approx(tokens, rel=1e-6)


def test_a_factor_is_tokens_a_second_after_over_before():
    for problem in answered(FactorAnswer):
        flops, wire = rates(problem)
        sizes = re.search(r"micro-batch of (\d+) sequences? fits, .* one of (\d+)", problem.prompt)
        before, after = map(int, sizes.groups())
        work, again = re.search(
            r"takes ([\d.,]+) TFLOP .*it ([\d.,]+) TFLOP", problem.prompt
        ).groups()
        sent = re.search(r"it sends ([\d.,]+) GB", problem.prompt)[1].replace(",", "")
        one, more = (float(n.replace(",", "")) * 1e12 for n in (work, again))
        lasts = float(sent) * 1e9 / wire
        old = before / max(lasts, before * one / flops)
        new = after / max(lasts, after * (one + more) / flops)
        assert float(problem.answer.value) == pytest.approx(new / old, rel=0.015)


def test_what_a_micro_batch_sends_is_8_bytes_a_parameter_or_6():
    for problem in answered(FactorAnswer):
        x = problem.scenario
        each = 8 if x.recipe.precision == "mixed" else 6
        sent = float(re.search(r"it sends ([\d.,]+) GB", problem.prompt)[1].replace(",", ""))
        total = each * x.architecture.parameters * ring(problem) / 1e9
        assert sent == pytest.approx(total, rel=0.006)


def test_both_micro_batches_fit_with_some_room():
    for problem in answered(FactorAnswer)[:8]:
        x = problem.scenario
        after = int(re.search(r"full recomputation one of (\d+)", problem.prompt)[1])
        full = replace(
            x,
            recipe=replace(x.recipe, recompute="full"),
            workload=replace(x.workload, micro_batch=after),
        )
        for run in (x, full):
            assert ledger(run).peak <= 0.92 * x.hardware.gpu.memory


def test_recomputation_pays_in_some_runs_and_does_not_in_others():
    values = [problem.answer.value for problem in answered(FactorAnswer)]
    assert min(values) < 0.85
    assert max(values) > 1.1


def test_recomputation_alone_is_a_named_mistake_where_sending_set_the_pace():
    seen = 0
    for problem in answered(FactorAnswer):
        slip = named(problem, "recomputation alone")
        if slip:
            assert 0.7 < slip.value < 0.85
            seen += 1
    assert seen > 3
