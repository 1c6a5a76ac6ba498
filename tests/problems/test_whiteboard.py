"""What is said on paper of a peak and of FSDP2 is what the ledger has, but for small lines."""

import re

import pytest

from engine.estimate import ledger
from problems.on_paper import on_paper
from problems.registry import build
from problems.scenarios import with_micro_batch

SEEDS = range(80)


@pytest.mark.parametrize("kind", ["peak", "fits", "largest-micro-batch"])
def test_the_exact_peak_is_that_on_paper_and_small_lines_more(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        exact, paper = ledger(problem.scenario).peak, on_paper(problem.scenario).peak
        assert 0.9 * exact <= paper <= 1.01 * exact, problem.id
        last = problem.solution[-1].text
        assert ("rounding" in last) == (paper >= exact)
        assert ("small lines that paper leaves out" in last) == (paper < exact)


def test_every_term_of_a_peak_has_a_line_of_its_own():
    for seed in SEEDS:
        problem = build("peak", seed)
        steps = [step.text for step in problem.solution if step.depth == "whiteboard"]
        moment = on_paper(problem.scenario).moment
        for amount in moment.amounts:
            assert sum(text.startswith(f"{amount.name}: ") for text in steps) == 1


def test_the_room_over_what_a_sequence_adds_is_the_largest_micro_batch():
    for seed in SEEDS:
        problem = build("largest-micro-batch", seed)
        count = problem.answer.value
        one = on_paper(with_micro_batch(problem.scenario, 1))
        quotient = float(re.findall(r"= ([\d.]+), down to", solution(problem))[0])
        assert count <= quotient < count + 1
        moment = one.binding(count + 1)
        assert moment.said in solution(problem)


@pytest.mark.parametrize("kind", ["fewest-gpus", "zero-states"])
def test_what_fsdp_shards_has_one_name(kind):
    seen = 0
    for seed in SEEDS:
        problem = build(kind, seed)
        fsdp = "FSDP2" in problem.prompt and "mixed precision" in problem.prompt
        text = "\n".join([problem.prompt, *problem.hints, solution(problem)])
        assert ("fp32 shard of the weights" in problem.prompt) == fsdp
        assert ("fp32 shard of the weights" in solution(problem)) == fsdp
        if fsdp:
            assert "master copy" not in text
            seen += 1
    assert seen > 5


def solution(problem):
    return "\n".join(step.text for step in problem.solution)
