"""Topic D, the peak: what most of it is."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from engine.ledger import Category, Ledger
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import PHASES_SAID
from problems.kind import kind
from problems.peaks import Run
from problems.problem import Step
from problems.wording import bare_gb, gb, listed, sentence

# What the categories are called here; the states of the optimizer and its master copy together.
SAID: Mapping[Category, str] = {
    Category.WEIGHTS: "weights",
    Category.GRADIENTS: "gradients",
    Category.MASTER_WEIGHTS: "master copy and optimizer states",
    Category.OPTIMIZER_STATE: "master copy and optimizer states",
    Category.ACTIVATIONS: "saved activations",
    Category.LOGITS: "logits and loss",
    Category.TEMPORARY: "temporaries",
    Category.COMMUNICATION: "communication buffers",
}
ALIASES: Mapping[str, tuple[str, ...]] = {
    "master copy and optimizer states": ("optimizer states", "optimizer", "moments"),
    "saved activations": ("activations",),
    "logits and loss": ("logits", "loss"),
    "communication buffers": ("communication", "buffers"),
}
LETTERS = "abcde"
MOST = 5
# Percent of the runs that are passed over, by what most of their peak is: others are rare.
PASSED_OVER = {"saved activations": 60, "logits and loss": 60}
# How much larger the largest is than the next one, so that a sum on paper finds it.
CLEAR = Fraction(13, 10)
# Percent of the card's memory between which runs are drawn, on paper.
LOW, HIGH = 10, 95


@kind(
    name="largest-share",
    topic="D",
    level="mid",
    title="What most of the peak is",
    sources=("traced steps of PyTorch 2.13", "stas00/ml-engineering training/performance"),
)
def largest_share(draw: Draw) -> Draft | None:
    """Ask which of a few terms is the largest at the peak of a run."""
    scenario = scenarios.run(draw, low=LOW, high=HIGH)
    if scenario is None:
        return None
    run = Run(scenario=scenario)
    found = sizes(run.ledger)
    rows = sorted(found.items(), key=lambda row: -row[1])[:MOST]
    if len(rows) < 3 or rows[0][1] < CLEAR * rows[1][1]:
        return None
    if draw.chance(PASSED_OVER.get(rows[0][0], 0)):
        return None
    shown = draw.sample(rows, len(rows))
    return Draft(
        prompt=run.prompt("largest-share", ask_micro_batch=False),
        answer=_answer(shown, rows[0]),
        hints=_hints(run, rows),
        solution=tuple(_steps(run, rows)),
        mistakes=(),
        scenario=scenario,
    )


def sizes(book: Ledger) -> dict[str, int]:
    """Return the bytes of each term at the peak, by what it is called here."""
    found: dict[str, int] = {}
    for category, said in SAID.items():
        if size := book.total(category, phase=book.peak_phase):
            found[said] = found.get(said, 0) + size
    return found


def _answer(shown: tuple[tuple[str, int], ...], first: tuple[str, int]) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter, name=name, aliases=ALIASES.get(name, ()), value=Fraction(size)
                ),
                mistake="" if name == first[0] else "a smaller term of the peak",
                feedback=f"{sentence(name)}: {gb(size)} at the peak"
                + ("." if name == first[0] else f", {gb(first[1] - size)} less than the largest."),
            )
            for letter, (name, size) in zip(LETTERS, shown, strict=False)
        )
    )


def _hints(run: Run, rows: list[tuple[str, int]]) -> tuple[str, str, str]:
    moment = run.paper.moment
    least = rows[-1]
    return (
        (
            "Price three things: the states in bytes a parameter, what a layer saves times the "
            "layers, and tokens × vocabulary. Which of them is alive at the peak?"
        ),
        f"On paper the peak is at {moment.said}.",
        f"It is not the {least[0]}: {gb(least[1])}. The largest is {gb(rows[0][1])}.",
    )


def _steps(run: Run, rows: list[tuple[str, int]]) -> Iterator[Step]:
    moment = run.paper.moment
    for x in sorted(moment.amounts, key=lambda x: -x.size)[:MOST]:
        yield Step(text=f"{x.name}: {x.said} = {bare_gb(x.size)} GB", depth="whiteboard")
    yield Step(text=f"exact, at {PHASES_SAID[run.ledger.peak_phase]}:")
    yield Step(text=f"{listed([f'{name} {gb(size)}' for name, size in rows])}")
    yield Step(text=f"the largest: {rows[0][0]}")
