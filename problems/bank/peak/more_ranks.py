"""Topic D, the peak: what more ranks leave of it."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.errors import InputError
from engine.ledger import MODEL_STATES
from engine.scenario import Scenario
from problems import scenarios
from problems.answers.answer import FULL_CREDIT
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.peaks import Run
from problems.problem import Mistake, Step
from problems.slips import unit_slips
from problems.wording import bare_gb, gb, paper
from problems.wrong_sizes import wrong_size

TIMES = (2, 4, 8, 16)
LOW, HIGH = 20, 95
# What of the peak the ranks must share, so that more of them change something: percent.
LEAST_SHARED = 15


@kind(
    name="more-ranks",
    topic="D",
    level="senior",
    title="What more ranks leave of the peak",
    sources=(
        "deepspeedai/DeepSpeed#1883",
        "arXiv 2304.11277 section 3",
        "traced steps of PyTorch 2.13",
    ),
)
def more_ranks(draw: Draw) -> Draft | None:
    """Give a peak under ZeRO-3 and ask for the peak on so many times as many GPUs."""
    scenario = scenarios.run(draw, low=LOW, high=HIGH)
    times = draw.choice(TIMES)
    if scenario is None or scenario.parallel.zero != 3:
        return None
    try:
        after = Run(scenario=_grown(scenario, times))
    except InputError:
        return None
    before = Run(scenario=scenario)
    peak, size = before.ledger.peak, after.ledger.peak
    shared = before.ledger.total(*MODEL_STATES, phase=before.ledger.peak_phase)
    if 100 * shared < LEAST_SHARED * peak or before.ledger.peak_phase != after.ledger.peak_phase:
        return None
    on_paper = peak - shared * (times - 1) // times
    if abs(on_paper - size) > FULL_CREDIT["estimate"] * size / 3:
        return None
    return Draft(
        prompt=before.prompt("more-ranks", ask_micro_batch=False, peak=gb(peak), times=times),
        answer=QuantityAnswer(value=Fraction(size), band="estimate"),
        hints=_hints(before, times),
        solution=tuple(_steps(before, after, times, on_paper)),
        mistakes=tuple(_mistakes(peak, shared, size, times)),
        scenario=scenario,
    )


def _grown(scenario: Scenario, times: int) -> Scenario:
    """Return the scenario on so many times as many GPUs, at the same micro-batch."""
    return replace(
        scenario,
        parallel=replace(scenario.parallel, data=times * scenario.parallel.data),
        hardware=replace(scenario.hardware, gpus=times * scenario.hardware.gpus),
    )


def _hints(before: Run, times: int) -> tuple[str, str, str]:
    states = _states(before)
    return (
        "Which part of the peak do the ranks share, and which does each have for itself?",
        (
            f"The shards at that moment are {paper(states)}; activations, logits, gathered "
            "layers and temporaries of one parameter are not shared."
        ),
        f"Only the shards become a part in {times} of what they are; the rest stays.",
    )


def _states(run: Run) -> int:
    return run.ledger.total(*MODEL_STATES, phase=run.ledger.peak_phase)


def _steps(before: Run, after: Run, times: int, on_paper: int) -> Iterator[Step]:
    peak, states = before.ledger.peak, _states(before)
    yield Step(text=f"shared at the peak: {paper(states)} of {paper(peak)}", depth="whiteboard")
    yield Step(
        text=f"{bare_gb(states)} / {times} + {bare_gb(peak - states)} = {paper(on_paper)}",
        depth="whiteboard",
    )
    yield Step(text=f"shards on the larger machine: {gb(_states(after))}")
    yield Step(text=f"what each rank has for itself: {gb(after.ledger.peak - _states(after))}")
    yield Step(
        text="The difference is what else is as large as a shard, and how shards are rounded "
        f"up: exactly {gb(after.ledger.peak)}"
    )


def _mistakes(peak: int, states: int, size: int, times: int) -> Iterator[Mistake]:
    why = f"is the whole peak over {times}; activations and the like stay, {{off}} more."
    yield wrong_size(Fraction(peak, times), size, "whole peak sharded", why)
    why = "is the peak as it is; the shards get smaller, {off} less."
    yield wrong_size(peak, size, "nothing shared more", why)
    why = "leaves the shards out, {off}: they get smaller, not nothing."
    yield wrong_size(peak - states, size, "shards forgotten", why)
    why = "is the shards alone; what each rank has for itself adds {off}."
    yield wrong_size(Fraction(states, times), size, "the states alone", why)
    yield from unit_slips(size)
