"""Logits and loss taken for one 16-bit tensor of logits."""

from fractions import Fraction

from engine.ledger import Category
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.wrong import Wrong

HALF_WIDTH = 2  # bytes


def _one_tensor(run: Run) -> Wrong:
    x = run.scenario
    one = HALF_WIDTH * x.tokens * x.architecture.vocab
    changed = {
        phase: {**rows, Category.LOGITS: min(rows.get(Category.LOGITS, 0), one)}
        for phase, rows in run.totals.items()
    }
    return Wrong(
        totals=changed,
        why="has one 16-bit tensor of logits; the loss makes copies in fp32 and their "
        "gradients, {off} more.",
        phases=(run.ledger.peak_phase,),
        moves=frozenset({Category.LOGITS}),
    )


IDEAS = (
    Idea(
        name="logits in 16 bits only",
        share=Fraction(1, 4),
        says="One tensor of 16-bit logits; the loss makes copies in fp32 and gradients.",
        of=_one_tensor,
        precedence=20,
    ),
)
