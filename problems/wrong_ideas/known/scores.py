"""Scores of attention where none are kept, or none where they are."""

from dataclasses import replace
from fractions import Fraction

from problems.on_paper import on_paper
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import by_paper
from problems.wrong_ideas.wrong import Wrong


def _counted(run: Run) -> Wrong | None:
    if run.scenario.recipe.attention != "flash":
        return None
    why = "counts b·a·s² scores; fused attention never keeps them, {off} less."
    return _with_attention(run, "eager", why)


def _forgotten(run: Run) -> Wrong | None:
    if run.scenario.recipe.attention == "flash":
        return None
    why = "has no b·a·s² scores; eager attention keeps them, {off} more."
    return _with_attention(run, "flash", why)


def _with_attention(run: Run, attention: str, why: str) -> Wrong:
    x = run.scenario
    other = replace(x, recipe=replace(x.recipe, attention=attention))
    return by_paper(run, on_paper(other), why)


IDEAS = (
    Idea(
        name="scores counted although fused",
        share=Fraction(1, 4),
        says="The b·a·s² scores were counted; fused attention never keeps them.",
        of=_counted,
        precedence=50,
    ),
    Idea(
        name="scores forgotten",
        share=Fraction(1, 4),
        says="Eager attention keeps b·a·s² scores; they are missing.",
        of=_forgotten,
        precedence=50,
    ),
)
