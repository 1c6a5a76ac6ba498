"""A course's own kind: how long a checkpoint of the training state takes to be written."""

from collections.abc import Iterator
from fractions import Fraction

from engine.estimate import ledger
from engine.ledger import Category
from engine.units import GB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.wording import billions, gb, in_seconds, number, paper, rounded

KEPT = (Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE)


@kind(
    name="checkpoint-time",
    topic="A",
    level="junior",
    title="Seconds that a checkpoint takes to be written",
    sources=("pytorch/torchtitan docs/checkpoint.md",),
)
def checkpoint_time(draw: Draw) -> Draft | None:
    """Ask for the seconds in which a file system takes master copy and moments."""
    model, ranks = scenarios.any_model(draw), 8 * draw.between(1, 64)
    speed = draw.between(2, 250)
    x = scenarios.of_states(model, ("mixed", "adamw"), scenarios.gpu_for(draw, ranks), 0, ranks)
    if x is None:
        return None
    size = ledger(x).total(*KEPT)
    seconds = Fraction(size, speed * GB)
    on_paper = 12 * rounded(model.parameters)
    return Draft(
        prompt=render("checkpoint-time", model=model, ranks=ranks, speed=speed),
        answer=QuantityAnswer(value=seconds, unit="s", default_unit="s"),
        hints=(
            "Which tensors does a run need to go on as if it had never stopped?",
            "Per parameter these are the fp32 master copy and two fp32 moments.",
            f"Divide 12 bytes for each of {billions(model.parameters)} billion by {speed} GB/s.",
        ),
        solution=(
            Step(
                text=f"12 × {billions(rounded(model.parameters))} billion = {paper(on_paper)}",
                depth="whiteboard",
            ),
            Step(
                text=f"{paper(on_paper)} at {speed} GB/s: "
                f"{in_seconds(Fraction(on_paper, speed * GB))}",
                depth="whiteboard",
            ),
            Step(text=f"master copy and moments: 12 × {number(model.parameters)} = {gb(size)}"),
            Step(text=f"The rest of the difference is rounding: {in_seconds(seconds)}"),
        ),
        mistakes=tuple(_mistakes(seconds)),
        scenario=x,
    )


def _mistakes(seconds: Fraction) -> Iterator[Mistake]:
    for name, each, why in (
        (
            "weights alone saved",
            2,
            "writes the 16-bit weights; the optimizer's 12 bytes are kept.",
        ),
        ("moments not saved", 4, "leaves out the moments, 8 bytes of 12 a parameter."),
        ("gradients counted", 14, "writes the gradients too, 2 bytes a parameter too many."),
        ("all states counted", 16, "writes all model states, 4 bytes a parameter too many."),
    ):
        value = seconds * each / 12
        yield Mistake(name=name, value=value, feedback=f"{in_seconds(value)} {why}")
