"""Activations of 4 bytes where they have 2."""

from fractions import Fraction

from engine.precisions import PRECISIONS
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import by_paper
from problems.wrong_ideas.wrong import Wrong

HALF_WIDTH = 2  # bytes


def _twice(run: Run) -> Wrong | None:
    if PRECISIONS[run.scenario.recipe.precision].compute != HALF_WIDTH:
        return None
    why = "has activations in fp32; they are 16 bits wide, {off} less."
    return by_paper(run, run.paper.with_saved(2), why)


IDEAS = (
    Idea(
        name="activations in 32 bits",
        share=Fraction(1, 4),
        says="Activations were taken at 4 bytes; they are 16 bits wide.",
        of=_twice,
        rare=True,
        precedence=80,
    ),
)
