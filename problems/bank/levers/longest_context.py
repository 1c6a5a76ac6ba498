"""Topic E, levers: the longest context that fits."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.scenario import Scenario
from engine.units import KIB
from problems import scenarios
from problems.amounts import Moment, Paper
from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.largest import divided, is_clear, wrong_sizes
from problems.on_paper import on_paper
from problems.peaks import Run
from problems.problem import Level, Mistake, Step
from problems.wording import gb, listed, number, paper

UNIT = KIB
FEWEST, MOST = 2, 24
ATTEMPTS = 20
ROOMS = (70, 75, 80, 85, 90, 95)


@kind_at_levels(
    name="longest-context",
    topic="E",
    levels=("mid", "senior"),
    title="Longest context within a share of the card",
    sources=("traced steps of PyTorch 2.13",),
    allows={
        "spread": "beyond 24 blocks of tokens paper's rounding decides",
    },
)
def longest_context(draw: Draw, level: Level) -> Draft | None:
    """Ask for the longest context whose peak stays within a share of the card.

    At senior level the run has several GPUs.
    """
    runs = (scenarios.run(draw, low=25, high=95, most=8) for _ in range(ATTEMPTS))
    drawn = next((run for run in runs if run is not None and _is_for(level, run)), None)
    if drawn is None:
        return None
    percent = draw.choice(ROOMS)
    room = drawn.hardware.gpu.memory * percent // 100
    sums = on_paper(_with_units(drawn, 1))
    count = max((n for n in range(1, MOST + 2) if sums.peak_of(n) <= room), default=0)
    if not FEWEST <= count <= MOST or (count + 1) * UNIT > drawn.model.max_sequence:
        return None
    if not is_clear(room, sums.peak_of(count), sums.peak_of(count + 1), margin=30):
        return None
    run, above = (Run(scenario=_with_units(drawn, count + more)) for more in (0, 1))
    if not is_clear(room, run.ledger.peak, above.ledger.peak, margin=20):
        return None
    return _draft(run, above, sums, percent, room)


def _is_for(level: Level, run: Scenario) -> bool:
    # Scores that are written out grow with the square, which no one divides on paper.
    return run.recipe.attention == "flash" and (run.hardware.gpus > 1) == (level == "senior")


def _with_units(scenario: Scenario, units: int) -> Scenario:
    return replace(scenario, workload=replace(scenario.workload, sequence=units * UNIT))


def _draft(run: Run, above: Run, sums: Paper, percent: int, room: int) -> Draft:
    memory_mib, tokens = run.scenario.hardware.gpu.memory_mib, run.scenario.workload.sequence
    said = f"{percent}% of {number(memory_mib)} MiB is {gb(room)}"
    more = gb(above.ledger.peak - run.ledger.peak)
    binding = sums.binding(tokens // UNIT + 1)
    return Draft(
        prompt=run.prompt(
            "longest-context", ask_micro_batch=False, ask_context=1, percent=percent
        ),
        answer=CountAnswer(value=tokens, noun="tokens"),
        hints=_hints(binding, said),
        solution=(
            *_on_paper(binding, room, said),
            *run.steps_exact(),
            Step(text=f"another {number(UNIT)} tokens add {more} and pass {gb(room)}"),
            Step(
                text=f"The rest of the difference is {run.difference}: {gb(run.ledger.peak)} "
                f"exactly, with s = {number(tokens)}"
            ),
        ),
        mistakes=tuple(_mistakes(run, above, percent)),
        scenario=run.scenario,
    )


def _hints(binding: Moment, said: str) -> tuple[str, str, str]:
    growing = [f"{x.name} {paper(x.size)}" for x in binding.amounts if x.tokens]
    return (
        f"The room first: {said}. Then see which part of the peak grows with the context.",
        (
            f"On paper the peak is at {binding.said}. What does not grow there: "
            f"{paper(binding.fixed)}. What every {number(UNIT)} positions add: {listed(growing)}."
        ),
        (
            "Take the fixed part from the room, divide by what 1,024 positions add at the moment "
            "of the peak, round down, and multiply by 1,024."
        ),
    )


def _on_paper(binding: Moment, room: int, said: str) -> Iterator[Step]:
    yield Step(text=f"room: {said}", depth="whiteboard")
    yield Step(text=f"most is alive at {binding.said}:", depth="whiteboard")
    for x in binding.amounts:
        each = f" for s = {number(UNIT)}" if x.tokens else ""
        yield Step(text=f"{x.name}: {x.said} = {paper(x.size)}{each}", depth="whiteboard")
    said, units = divided(binding, room)
    yield Step(
        text=f"{said}: {units} × {number(UNIT)} = {number(units * UNIT)}", depth="whiteboard"
    )


def _mistakes(run: Run, above: Run, percent: int) -> Iterator[Mistake]:
    right = run.scenario.workload.sequence // UNIT
    for units, name, why in wrong_sizes(run, above, percent, right):
        yield _counted(units, name, why)
    size = run.scenario.workload.micro_batch
    if size > 1:
        why = f"counts the tokens of the {size} sequences of a micro-batch, not of one."
        yield _counted(size * right, "all sequences' tokens", why)


def _counted(units: int, name: str, why: str) -> Mistake:
    tokens = units * UNIT
    return Mistake(
        name=name, value=Fraction(tokens), feedback=f"{number(tokens)} tokens: that {why}"
    )
