"""What a lever costs, counted a second way from the sizes of the model."""

import re
from fractions import Fraction
from functools import cache

import pytest

from problems.registry import build

SEEDS = range(120)
FORWARD, BACKWARD = "forward", "backward"


@cache
def asked(what):
    """The problems whose prompt has these words."""
    problems = (build("lever-cost", seed) for seed in SEEDS)
    return tuple(problem for problem in problems if what in problem.prompt)


def named(problem, name):
    return next((m for m in problem.mistakes if m.name == name), None)


def weights(x):
    """Elements of a layer's matrices, by hand: query, key, value, output and MLP."""
    a = x.architecture
    attention = a.hidden * a.head_dim * (2 * a.heads + 2 * a.kv_heads)
    return attention + (3 if a.gated else 2) * a.hidden * a.ffn


def forward(x):
    """FLOPs a token of layers, attention and head, attention as flash or eager makes it."""
    a, s = x.architecture, x.workload.sequence
    positions = (s + 1) / 2 if x.recipe.attention == "flash" else s
    return (
        2 * a.layers * weights(x),
        4 * a.layers * a.heads * a.head_dim * positions,
        2 * a.vocab * a.hidden,
    )


@pytest.mark.parametrize(
    "what",
    ["Full recomputation", "Selective recomputation", "bubble", "ring", "Attention and MLP",
     "CPU offload"],
)  # fmt: skip
def test_each_cost_is_asked_about(what):
    assert len(asked(what)) >= 6


def test_full_recomputation_runs_the_layers_and_not_the_head_once_more():
    for problem in asked("Full recomputation"):
        layers, attention, head = forward(problem.scenario)
        # Flash attention makes the scores again in its backward pass: 5 products, not 4.
        step = 3 * (layers + attention + head) + attention / 2
        assert float(problem.answer.value) == pytest.approx((layers + attention) / step, rel=1e-3)
        assert problem.answer.value <= Fraction(1, 3)


def test_running_the_head_again_is_a_named_mistake_of_a_third():
    seen = 0
    for problem in asked("Full recomputation"):
        slip = named(problem, "head run again")
        if slip:
            assert float(slip.value) == pytest.approx(1 / 3, rel=0.02)
            seen += 1
    assert seen > 3


def test_selective_recomputation_runs_attention_once_more_with_all_pairs():
    for problem in asked("Selective recomputation"):
        layers, attention, head = forward(problem.scenario)
        share = attention / (3 * (layers + attention + head))
        assert float(problem.answer.value) == pytest.approx(share, rel=1e-3)


def one_f_one_b(stages, micro_batches):
    """The time of a step under 1F1B, every pass of a stage taking 1, played through."""
    order = []
    for stage in range(stages):
        warm = min(stages - stage, micro_batches)
        passes = [(FORWARD, m) for m in range(warm)]
        for m in range(micro_batches):
            passes.append((BACKWARD, m))
            if warm + m < micro_batches:
                passes.append((FORWARD, warm + m))
        order.append(passes)
    done, clock, at = {}, [0] * stages, [0] * stages
    while any(at[s] < len(order[s]) for s in range(stages)):
        for stage in range(stages):
            if at[stage] == len(order[stage]):
                continue
            way, m = order[stage][at[stage]]
            before = stage - 1 if way == FORWARD else stage + 1
            waits = (way, m, before)
            if 0 <= before < stages and waits not in done:
                continue
            clock[stage] = max(clock[stage], done.get(waits, 0)) + 1
            done[way, m, stage] = clock[stage]
            at[stage] += 1
    return max(clock)


def test_the_bubble_is_what_a_pipeline_played_through_takes_longer():
    for problem in asked("bubble"):
        stages, many = (int(re.search(rf"{n} = (\d+)", problem.prompt)[1]) for n in "pm")
        work = 2 * many
        assert problem.answer.value == Fraction(one_f_one_b(stages, many) - work, work)


@pytest.mark.parametrize(
    ("stage", "once", "each"),
    [("DDP:", 4, 0), ("ZeRO-1:", 4, 0), ("ZeRO-2", 2, 2), ("ZeRO-3", 0, 8)],
)
def test_bytes_on_the_wire_are_so_many_a_parameter_once_and_in_each_micro_batch(stage, once, each):
    problems = [problem for problem in asked(stage) if "over rings" in problem.prompt]
    assert len(problems) >= 3
    for problem in problems:
        x = problem.scenario
        many, ranks = x.workload.gradient_accumulation, x.parallel.data
        total = (once + each * many) * x.architecture.parameters * (ranks - 1) / ranks
        assert float(problem.answer.value) == pytest.approx(total, rel=1e-6)


def test_forgotten_accumulation_is_what_one_micro_batch_sends():
    seen = 0
    for problem in asked("ZeRO-3 as FSDP2"):
        slip = named(problem, "accumulation forgotten")
        many = problem.scenario.workload.gradient_accumulation
        assert bool(slip) == (many > 1)
        if slip:
            assert float(slip.value * many / problem.answer.value) == pytest.approx(1, rel=1e-6)
            seen += 1
    assert seen > 0


def test_tensor_parallelism_sums_up_all_tokens_four_times_a_layer_and_six_when_recomputed():
    for problem in asked("Attention and MLP"):
        x, t = problem.scenario, problem.scenario.parallel.tensor
        times = 6 if "full recomputation" in problem.prompt else 4
        one = 2 * x.tokens * x.architecture.hidden * 2 * (t - 1) / t
        total = (times * x.architecture.layers + 2) * one
        assert float(problem.answer.value) == pytest.approx(total, rel=1e-6)


def test_offload_moves_4_bytes_of_each_parameter_of_a_gpus_share():
    for problem in asked("CPU offload"):
        rate = float(re.search(r"carries ([\d.]+) GB/s", problem.prompt)[1])
        x = problem.scenario
        share = x.architecture.parameters / x.parallel.data
        assert float(problem.answer.value) == pytest.approx(4 * share / rate / 1e9, rel=1e-6)
        assert problem.answer.unit == "s"
