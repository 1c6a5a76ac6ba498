"""Which measurement decides, and what would overturn the estimate."""

from collections.abc import Iterator

from engine.ledger import Category
from problems.exact import saved
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.script import Question
from problems.wording import gb, number


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on verification."""
    yield Posed(
        question=Question(
            key="verify",
            aspect="terms",
            says="How do you check the estimate on a real GPU: what do you measure, and when?",
            scenario=talk.scenario,
            points=points("verification", _measured(talk)),
            stronger=(
                "Measures the peak of a steady step, phase by phase, beside the lines of the "
                "estimate, and says beforehand how large a gap would worry."
            ),
            practises=("three-numbers", "timeline-peak", "which-tensor"),
        ),
    )
    yield Posed(
        question=Question(
            key="overturns",
            aspect="conditions",
            says="What would overturn your answer?",
            scenario=talk.scenario,
            points=points("conditions", _overturns(talk)),
            stronger=(
                "Names the one condition that turns the verdict, with the size by which it does, "
                "and what comes seldom: evaluation, a save, a longer batch."
            ),
            practises=("activations-conditions", "dies-late", "late-suspects", "save-gathers"),
        ),
        takes=2,
        turn=9,
        levels=("mid", "senior"),
    )


def _measured(talk: Talk) -> Iterator[Row]:
    peak = gb(talk.runs.base.ledger.peak)
    first = gb(max(talk.runs.base.ledger.first_step.values()))
    yield (
        "max-allocated",
        f"torch.cuda.max_memory_allocated of a step, to be near {peak}.",
        "junior",
    )
    yield (
        "steady-step",
        f"After the first step, whose peak is {first}: the optimizer's states are made in it.",
        "mid",
    )
    yield "reset-peak", "Reset the peak before the step, so that loading is not in it.", "mid"
    yield (
        "reserved-too",
        "Reserved and nvidia-smi beside it: what they have more is no tensor.",
        "mid",
    )
    yield "snapshot", "A memory snapshot: which tensors are alive at the highest point.", "mid"
    yield "by-phase", "Phase by phase: after forward, after backward, after the step.", "senior"
    yield (
        "two-lengths",
        "Two lengths or two micro-batches: the slope is what grows, the rest is fixed.",
        "senior",
    )


def _overturns(talk: Talk) -> Iterator[Row]:
    x, book = talk.scenario, talk.runs.base.ledger
    kernel = "eager attention" if x.recipe.attention == "flash" else "flash attention"
    yield "attention-kernel", f"Another kernel: {kernel} in place of this one.", "mid"
    yield (
        "recomputation",
        f"Recomputation on or off: the layers save {gb(saved(book))} as it is.",
        "mid",
    )
    yield (
        "longer-batch",
        f"A longer or larger batch than {number(x.tokens)} tokens.",
        "mid",
    )
    yield "precision", "Another width of gradients or moments than was assumed.", "mid"
    logits = max(book.total(Category.LOGITS, phase=phase) for phase in book.phases)
    yield "loss-kernel", f"A fused loss, which takes most of {gb(logits)} away.", "senior"
    slack = gb(book.total(Category.ALLOCATOR_SLACK))
    yield "fragmentation", f"Fragmentation beyond the {slack} that are assumed.", "senior"
    yield "rare-events", "What comes seldom: evaluation, a save that gathers, a resume.", "senior"
