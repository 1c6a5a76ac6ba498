"""Topic D, the peak: how high it is, whether it fits, how large a micro-batch fits."""

from collections.abc import Iterator
from fractions import Fraction

from engine.estimate import fits
from engine.scenario import Scenario
from problems import scenarios
from problems.amounts import LOSS, Moment
from problems.answers.count import CountAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.largest import divided, is_clear, wrong_sizes
from problems.letters import letters
from problems.on_paper import on_paper
from problems.peaks import Run, terms
from problems.problem import Level, Mistake, Step
from problems.wording import gb, listed, number, paper
from problems.wrong_ideas.applied import wrongs

# Percent of the card's memory, on paper, between which runs are drawn.
USUAL = (15, 95)
FITTING, NOT_FITTING = (25, 82), (112, 250)
# How near the card's memory a peak may come before "does it fit" has no clear answer.
NEAR = Fraction(1, 10)
FEWEST_SEQUENCES, MOST_SEQUENCES = 2, 12
ATTEMPTS = 100
# Percent of the runs with their peak at the loss that are passed over, so that the other moments
# make up half of the questions.
PASSED_OVER = 60
ROOMS = (70, 75, 80, 85, 90, 95)


@kind_at_levels(
    name="peak",
    topic="D",
    levels=("mid", "senior"),
    title="Peak of allocated memory in a step",
    sources=("traced steps of PyTorch 2.13",),
)
def peak(draw: Draw, level: Level) -> Draft | None:
    """Ask for the peak of allocated memory of a run that fits its card, or nearly.

    At senior level it has several GPUs.
    """
    scenario = scenarios.run(draw, low=USUAL[0], high=USUAL[1])
    if scenario is None or (scenario.hardware.gpus > 1) != (level == "senior"):
        return None
    run = Run(scenario=scenario)
    if run.paper.moment.said == LOSS and draw.chance(PASSED_OVER):
        return None
    if run.ledger.peak > scenario.hardware.gpu.memory:
        return None
    return peak_of(run)


def peak_of(run: Run) -> Draft:
    """Return the question for the peak of a run."""
    prompt = run.prompt("peak", ask_micro_batch=False)
    return Draft(
        prompt=prompt,
        answer=_peak_answer(run, prompt),
        hints=run.hints("Add them up."),
        solution=(*run.steps_on_paper(), *run.steps_exact(), _last(run)),
        mistakes=tuple(_peak_mistakes(run)),
        scenario=run.scenario,
    )


@kind_at_levels(
    name="fits",
    topic="D",
    levels=("junior", "mid"),
    title="Does the run fit, and what proves it?",
    sources=(
        "traced steps of PyTorch 2.13",
        "stas00/ml-engineering training/performance/README.md",
    ),
)
def fits_or_not(draw: Draw, level: Level) -> Draft | None:
    """Ask whether a run fits; as many do as do not, and none is near the border.

    At mid level it has several GPUs.
    """
    wanted = draw.choice(("yes", "no"))
    low, high = FITTING if wanted == "yes" else NOT_FITTING
    runs = (scenarios.run(draw, low=low, high=high) for _ in range(ATTEMPTS))
    scenario = next((run for run in runs if run is not None), None)
    if scenario is None or (scenario.hardware.gpus > 1) != (level == "mid"):
        return None
    run = Run(scenario=scenario)
    memory = scenario.hardware.gpu.memory
    verdict = fits(scenario, run.ledger)
    if verdict == "tight" or abs(Fraction(run.ledger.peak, memory) - 1) <= NEAR:
        return None
    return whether_it_fits(run)


def whether_it_fits(run: Run) -> Draft:
    """Return the question whether a run fits, which is clear, with its peak as the proof."""
    verdict, memory = fits(run.scenario, run.ledger), run.scenario.hardware.gpu.memory
    compared = "below" if verdict == "yes" else "above"
    prompt = run.prompt("fits", ask_micro_batch=False)
    return Draft(
        prompt=prompt,
        answer=YesNoAnswer(value=verdict == "yes", proof=_peak_answer(run, prompt)),
        hints=run.hints(f"Add them up and compare with {gb(memory)}."),
        solution=(
            *run.steps_on_paper(),
            *run.steps_exact(),
            Step(text=f"{verdict}: the peak is {compared} the {gb(memory)} of the card"),
            _last(run),
        ),
        mistakes=tuple(_peak_mistakes(run)),
        scenario=run.scenario,
    )


def _peak_answer(run: Run, prompt: str) -> QuantityAnswer:
    return QuantityAnswer(
        value=Fraction(run.ledger.peak), band="estimate", symbols=letters(run.scenario, prompt)
    )


def _last(run: Run) -> Step:
    peak = gb(run.ledger.peak)
    return Step(text=f"The rest of the difference is {run.difference}: exactly {peak}")


def _peak_mistakes(run: Run) -> Iterator[Mistake]:
    right = run.ledger.peak
    for name, wrong in wrongs(run, "peak").items():
        off = gb(abs(wrong.peak - right))
        yield Mistake(
            name=name,
            value=Fraction(wrong.peak),
            feedback=f"{gb(wrong.peak)} {wrong.why.format(off=off)}",
            moves=frozenset(map(str, wrong.moves)),
        )


@kind_at_levels(
    name="largest-micro-batch",
    topic="D",
    levels=("mid", "senior"),
    title="Largest micro-batch within a share of the card",
    sources=("traced steps of PyTorch 2.13",),
    allows={
        "spread": "beyond a dozen sequences paper's rounding decides",
    },
)
def largest_micro_batch(draw: Draw, level: Level) -> Draft | None:
    """Ask for the largest micro-batch whose peak stays within a share of the card.

    At senior level the run has several GPUs.
    """
    base = scenarios.run(draw, low=25, high=90, most=MOST_SEQUENCES)
    if base is None or (base.hardware.gpus > 1) != (level == "senior"):
        return None
    percent = draw.choice(ROOMS)
    room = base.hardware.gpu.memory * percent // 100
    found = _largest(base, room)
    if found is None:
        return None
    run, above = found
    count = run.scenario.workload.micro_batch
    room_said = f"{percent}% of {number(base.hardware.gpu.memory_mib)} MiB is {gb(room)}"
    per_sequence = above.ledger.peak - run.ledger.peak
    binding = on_paper(scenarios.with_micro_batch(run.scenario, 1)).binding(count + 1)
    return Draft(
        prompt=run.prompt("largest-micro-batch", ask_micro_batch=True, percent=percent),
        answer=CountAnswer(value=count, noun="sequences"),
        hints=_largest_hints(binding, room_said),
        solution=(
            *_largest_on_paper(binding, room, room_said),
            *run.steps_exact(),
            Step(text=f"another sequence adds {gb(per_sequence)} and passes {gb(room)}"),
            Step(
                text=f"The rest of the difference is {run.difference}: exactly "
                f"{gb(run.ledger.peak)} with a micro-batch of {count}"
            ),
        ),
        mistakes=tuple(_count_mistakes(run, above, percent)),
        scenario=run.scenario,
    )


def _largest_hints(binding: Moment, room_said: str) -> tuple[str, str, str]:
    growing = [f"{x.name} {paper(x.size)}" for x in binding.amounts if x.tokens]
    return (
        (
            f"The room first: {room_said}. Then see which part of the peak grows with the "
            "micro-batch."
        ),
        (
            f"On paper the peak is at {binding.said}. What does not grow there: "
            f"{paper(binding.fixed)}. What every sequence adds: {listed(growing)}."
        ),
        (
            "Take the fixed part from the room, divide by what one sequence adds at the moment "
            "of the peak, and round down."
        ),
    )


def _largest_on_paper(binding: Moment, room: int, room_said: str) -> Iterator[Step]:
    yield Step(text=f"room: {room_said}", depth="whiteboard")
    yield Step(text=f"most is alive at {binding.said}:", depth="whiteboard")
    yield from terms(binding, one_sequence=True)
    yield Step(text=divided(binding, room)[0], depth="whiteboard")


def _largest(base: Scenario, room: int) -> tuple[Run, Run] | None:
    """Return the run with the largest micro-batch within `room` and the next larger one.

    None where it is not one of 2 to 12, or where a small error would lead to another number.
    """
    sums = on_paper(scenarios.with_micro_batch(base, 1))
    guess = max((m for m in range(1, MOST_SEQUENCES + 2) if sums.peak_of(m) <= room), default=0)
    if not FEWEST_SEQUENCES <= guess <= MOST_SEQUENCES:
        return None
    if not is_clear(room, sums.peak_of(guess), sums.peak_of(guess + 1), margin=30):
        return None
    run, above = (Run(scenario=scenarios.with_micro_batch(base, guess + more)) for more in (0, 1))
    return (run, above) if is_clear(room, run.ledger.peak, above.ledger.peak, margin=20) else None


def _count_mistakes(run: Run, above: Run, percent: int) -> Iterator[Mistake]:
    right = run.scenario.workload.micro_batch
    for count, name, why in wrong_sizes(run, above, percent, right):
        yield _counted(count, name, why)


def _counted(value: int, name: str, why: str) -> Mistake:
    noun = "sequence" if value == 1 else "sequences"
    return Mistake(name=name, value=Fraction(value), feedback=f"{value} {noun}: that {why}")
