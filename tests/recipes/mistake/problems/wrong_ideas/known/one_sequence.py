"""One sequence counted where the micro-batch has several."""

from fractions import Fraction

from engine.ledger import Category
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import at_peak
from problems.wrong_ideas.wrong import Wrong


def _one_sequence(run: Run) -> Wrong | None:
    sequences = run.scenario.workload.micro_batch
    if sequences == 1:
        return None
    share = Fraction(1, sequences)
    return at_peak(
        run,
        {Category.ACTIVATIONS: share, Category.LOGITS: share},
        f"counts the tokens of one sequence; the micro-batch has {sequences}, {{off}} more.",
    )


IDEAS = (
    Idea(
        name="one sequence of the micro-batch",
        share=Fraction(1, 4),
        says="One sequence was counted; the micro-batch has several.",
        of=_one_sequence,
        asked=("peak", "proposal"),  # where the largest micro-batch is asked for, there is none
    ),
)
