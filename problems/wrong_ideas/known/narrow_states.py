"""Optimizer's states of half their size: one moment of two, or all in 16 bits."""

from fractions import Fraction

from engine.ledger import Category
from engine.precisions import PRECISIONS
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import at_peak
from problems.wrong_ideas.wrong import Wrong

FP32, HALF = 4, Fraction(1, 2)


def _one_moment(run: Run) -> Wrong | None:
    if not _steps_wide_moments(run):
        return None
    why = "has one moment; AdamW keeps two, {off} more."
    return at_peak(run, {Category.OPTIMIZER_STATE: HALF}, why)


def _all_narrow(run: Run) -> Wrong | None:
    if not _steps_wide_moments(run):
        return None
    width = PRECISIONS[run.scenario.recipe.precision]
    narrow = {Category.OPTIMIZER_STATE: HALF}
    narrow |= {Category.WEIGHTS: HALF} if width.weights == FP32 else {}
    narrow |= {Category.GRADIENTS: HALF} if width.gradients == FP32 else {}
    return at_peak(
        run,
        {**narrow, Category.MASTER_WEIGHTS: 0},
        "has every state in 16 bits; the optimizer's are fp32, and so is what it steps, "
        "{off} more.",
    )


def _steps_wide_moments(run: Run) -> bool:
    recipe = run.scenario.recipe
    return recipe.optimizer == "adamw" and PRECISIONS[recipe.precision].stepped == FP32


IDEAS = (
    Idea(
        name="one moment forgotten",
        share=Fraction(1, 4),
        says="AdamW keeps two moments; one is missing.",
        of=_one_moment,
        rare=True,
        precedence=21,
    ),
    Idea(
        name="everything in 16 bits",
        share=Fraction(1, 4),
        says="All states were taken at 2 bytes; the optimizer's are fp32.",
        of=_all_narrow,
        precedence=21,
    ),
)
