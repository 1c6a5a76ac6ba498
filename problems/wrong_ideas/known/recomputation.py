"""Everything saved where layers are run again."""

from dataclasses import replace
from fractions import Fraction

from problems.on_paper import on_paper
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import by_paper
from problems.wrong_ideas.wrong import Wrong


def _none(run: Run) -> Wrong | None:
    x = run.scenario
    if x.recipe.recompute != "full":
        return None
    bare = replace(x, recipe=replace(x.recipe, recompute="none"))
    why = "saves every activation; with full recomputation {off} of it are gone."
    return by_paper(run, on_paper(bare), why)


IDEAS = (
    Idea(
        name="recomputation forgotten",
        share=Fraction(1, 4),
        says="Everything was taken as saved; recomputation keeps the layers' inputs alone.",
        of=_none,
        precedence=70,
    ),
)
