"""Published answers about adapters that went wrong."""

from fractions import Fraction

from problems.draw import Draw
from problems.published.case import Make, Published, billions, said
from problems.worked import Line, Worked, times


def _lines(parameters: int, percent: Fraction) -> tuple[Line, ...]:
    trained = parameters * percent / 100
    return (
        Line(
            key="base",
            says=f"frozen base: 2 bytes × {said(parameters)} parameters",
            of=lambda _: 2 * parameters,
        ),
        Line(
            key="trained",
            says=f"trained parameters: {float(percent):g}% of {said(parameters)}",
            of=lambda _: trained,
            form="count",
        ),
        Line(
            key="adapters",
            says="states of the adapters: 16 bytes × {trained}",
            of=times("trained", 16),
        ),
        Line(
            key="total",
            says="weights and states: {base} + {adapters}",
            of=lambda values: values["base"] + values["adapters"],
        ),
    )


def adapters_alone(draw: Draw) -> Published:
    """Under 10 GB for LoRA of a 70B model."""
    parameters, percent = billions(draw), Fraction(draw.between(1, 15), 10)
    lines = _lines(parameters, percent)
    return Published(
        source="threadreaderapp.com, November 2025",
        about=f"LoRA of a {said(parameters)} model: the base is frozen in bf16, the "
        f"adapters have {float(percent):g}% of its parameters and take 16 bytes each, AdamW's "
        "moments among them, all on one GPU.",
        worked=Worked(lines=lines),
        wrong=lines[3].wrong(
            "base forgotten",
            "weights and states: {adapters}",
            times("adapters", 1),
            why="is the adapters alone; the frozen base is there too, {off} more.",
            nudge="What does a GPU hold besides what is trained?",
        ),
        told="under 10 GB was said for LoRA of 70B; the frozen base alone is 140 GB in bf16",
    )


CASES: tuple[Make, ...] = (adapters_alone,)
