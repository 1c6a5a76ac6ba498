"""More sequences at once than a micro-batch has."""

from fractions import Fraction

from engine.ledger import Category
from problems.peaks import Run
from problems.wording import all_of
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import at_all
from problems.wrong_ideas.wrong import Wrong

OF_TOKENS = (Category.ACTIVATIONS, Category.LOGITS)


def _all_accumulated(run: Run) -> Wrong | None:
    times = run.scenario.workload.gradient_accumulation
    if times == 1:
        return None
    return at_all(
        run,
        dict.fromkeys(OF_TOKENS, times),
        f"holds {all_of(times)} micro-batches at once; one is gone before the next begins, so "
        "{off} are too many.",
    )


def _global_batch(run: Run) -> Wrong | None:
    work, ranks = run.scenario.workload, run.scenario.parallel.data
    if ranks == 1:
        return None
    times = ranks * work.gradient_accumulation
    return at_all(
        run,
        dict.fromkeys(OF_TOKENS, times),
        f"holds the {times * work.micro_batch:,} sequences of the global batch; a GPU holds a "
        f"micro-batch of {work.micro_batch:,}, so {{off}} are too many.",
    )


IDEAS = (
    Idea(
        name="all accumulated micro-batches counted",
        share=Fraction(1, 4),
        says="One micro-batch is gone before the next begins.",
        of=_all_accumulated,
        precedence=30,
    ),
    Idea(
        name="the global batch counted",
        share=Fraction(1, 4),
        says="The sequences of all GPUs and all accumulated micro-batches were counted.",
        of=_global_batch,
        precedence=30,
    ),
)
