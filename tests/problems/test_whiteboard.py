"""The program's own answer on paper earns full credit from its own marking, in every kind."""

import re
from fractions import Fraction

import pytest

from engine.estimate import ledger
from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from problems.answers.answer import FULL_CREDIT
from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.repair import RepairAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.on_paper import on_paper
from problems.registry import build, kinds
from problems.scenarios import with_micro_batch

SEEDS = range(80)
UNITS = {
    "TB": TB, "GB": GB, "MB": MB, "kB": KB, "TiB": TIB, "GiB": GIB, "MiB": MIB, "KiB": KIB,
    "T": 10**12, "B": 10**9, "M": 10**6, "": 1,
}  # fmt: skip
# An order, a pick and a reason have no number to be near to.
NUMBERS = QuantityAnswer | CountAnswer | FactorAnswer | YesNoAnswer | RepairAnswer
every_number = pytest.mark.parametrize(
    "kind", [kind for kind in kinds() if isinstance(build(kind, 0).answer, NUMBERS)]
)


def quantity(problem):
    answer = problem.answer
    return answer.proof if isinstance(answer, YesNoAnswer | RepairAnswer) else answer


def last_on_paper(problem):
    """The last number of the whiteboard steps, in bytes where it has a unit of them."""
    text = [step.text for step in problem.solution if step.depth == "whiteboard"][-1]
    units = "|".join(filter(None, UNITS))
    number, unit = re.findall(rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?({units})?(?![\w.])", text)[-1]
    return Fraction(number.replace(",", "")) * UNITS[unit]


@every_number
def test_the_answer_on_paper_earns_full_credit(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        answer, said = quantity(problem), last_on_paper(problem)
        if isinstance(answer, CountAnswer):
            assert said == answer.value, problem.id
            continue
        band = answer.band if isinstance(answer, QuantityAnswer) else "count"
        # Half of the band of a count is left to the person's own rounding.
        within = Fraction(1, 100) if band == "count" else FULL_CREDIT[band]
        assert abs(said / answer.value - 1) <= within, problem.id


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
