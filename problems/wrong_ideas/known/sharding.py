"""States whole or shared against their ZeRO stage, and activations shared."""

from fractions import Fraction

from engine.ledger import Category
from problems.model_states import SHARDS, STAGES
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import at_peak
from problems.wrong_ideas.wrong import Wrong

# In the order of the ZeRO stages: stage z shards the first z + 1.
SHARDED = (
    Category.OPTIMIZER_STATE,
    Category.MASTER_WEIGHTS,
    Category.GRADIENTS,
    Category.WEIGHTS,
)


def _nothing(run: Run) -> Wrong | None:
    ranks, stage = run.scenario.parallel.data, run.scenario.parallel.zero
    if ranks == 1 or not stage:
        return None
    return at_peak(
        run,
        dict.fromkeys(SHARDED[: stage + 1], ranks),
        f"has the states whole on every GPU; ZeRO-{stage} {SHARDS[stage]}, {{off}} less.",
    )


def _activations(run: Run) -> Wrong | None:
    ranks, stage = run.scenario.parallel.data, run.scenario.parallel.zero
    if ranks == 1 or not stage:
        return None
    return at_peak(
        run,
        {Category.ACTIVATIONS: Fraction(1, ranks)},
        "divides the activations by the GPUs; ZeRO shares states, and each GPU has the "
        "activations of its own micro-batch, {off} more.",
    )


def _too_much(run: Run) -> Wrong | None:
    ranks, stage = run.scenario.parallel.data, run.scenario.parallel.zero
    states = SHARDED[stage + 1 : stage + 2] if stage else SHARDED[:2]
    if ranks == 1 or not states:
        return None
    named = " and ".join(str(state).replace("_", " ") for state in states)
    return at_peak(
        run,
        dict.fromkeys(states, Fraction(1, ranks)),
        f"divides {named} by the GPUs; {STAGES[stage]} leaves them whole, {{off}} more.",
    )


IDEAS = (
    Idea(
        name="nothing sharded",
        share=Fraction(1, 4),
        says="The states were taken whole on every GPU.",
        of=_nothing,
        precedence=60,
    ),
    Idea(
        name="activations sharded by ZeRO",
        share=Fraction(1, 4),
        says="ZeRO divides states; activations are of each GPU's own micro-batch.",
        of=_activations,
        precedence=60,
    ),
    Idea(
        name="sharded what is not sharded",
        share=Fraction(1, 4),
        says="A state was divided that this ZeRO stage leaves whole on every GPU.",
        of=_too_much,
        precedence=60,
    ),
)
