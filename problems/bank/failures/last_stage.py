"""Topic H, real failures: the last stage of a pipeline, which has the head and the loss."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.errors import InputError
from engine.estimate import ledgers
from engine.ledger import MODEL_STATES, Category, Ledger, Phase
from engine.levers.splits import megatrons
from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import bare_gb, gb, number, paper
from problems.wrong_sizes import wrong_size

STAGES = (3, 4, 5, 6, 8, 10, 12, 16)
TENSORS = (1, 2, 4, 8)
LENGTHS = (128, 256, 384, 512, 768, 1024, 1536, 2048, 4096)
RECOMPUTES = ("full", "full", "selective")
# Weights 2, gradients 4, master copy 4, moments 8.
EACH = 18


@dataclass(frozen=True, kw_only=True)
class Ends:
    """A pipelined run, and its last stage beside the one before it."""

    run: Scenario

    @cached_property
    def books(self) -> tuple[Ledger, ...]:
        """The ledgers of the stages that differ."""
        return ledgers(self.run)

    @property
    def states(self) -> int:
        """Model states that the last stage has more."""
        last, before = self.books[-1], self.books[-2]
        return last.total(*MODEL_STATES) - before.total(*MODEL_STATES)

    @property
    def logits(self) -> int:
        """Logits, which the loss turns into their gradient where they lie."""
        return self.books[-1].total(Category.LOGITS, phase=Phase.LOSS)

    @property
    def rows(self) -> int:
        """Rows of the vocabulary that a tensor rank has, padded."""
        return self.logits // (2 * self.run.tokens)

    @property
    def size(self) -> int:
        """All that the last stage has for the vocabulary."""
        return self.states + self.logits


@kind(
    name="last-stage",
    topic="H",
    level="senior",
    title="What the last stage has that no other has",
    sources=("NVIDIA/Megatron-LM#640", "arXiv 2104.04473 section 2.2"),
)
def last_stage(draw: Draw) -> Draft | None:
    """Ask for what the last stage of a pipeline has for the head and the logits."""
    run = _run(draw)
    if run is None:
        return None
    ends = Ends(run=run)
    if len(ends.books) < 3 or not ends.books[-1].stage.last:
        return None
    *others, last = (book.peak for book in ends.books)
    if last <= max(others) or last > run.hardware.gpu.memory:
        return None
    size, tensor = ends.size, run.parallel.tensor
    of_rank = f" / {tensor}" if tensor > 1 else ""
    return Draft(
        prompt=render("last-stage", x=run, padded=ends.rows * tensor),
        answer=QuantityAnswer(value=Fraction(size)),
        hints=(
            "Which matrix of the model is in the last stage alone, and what comes out of it?",
            (
                "The head has weights, gradients, master copy and moments like any other matrix; "
                "and its output is as wide as the vocabulary, for every token."
            ),
            (
                f"{EACH} bytes × V × h{of_rank}, and 2 bytes × b × s × V{of_rank}: "
                "tensor ranks share the vocabulary."
            ),
        ),
        solution=tuple(_steps(ends)),
        mistakes=tuple(no_unit_slip(size, _mistakes(ends))),
        scenario=run,
    )


def _run(draw: Draw) -> Scenario | None:
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    a = model.architecture
    stages, tensor = draw.choice(STAGES), draw.choice(TENSORS)
    gpus = stages * tensor
    lengths = [length for length in LENGTHS if length <= model.max_sequence]
    if a.tied or not lengths:
        return None
    try:
        return Scenario(
            model=model,
            implementation="megatron",
            workload=Workload(
                micro_batch=draw.between(1, 12),
                sequence=draw.choice(lengths),
                gradient_accumulation=8 * stages,
            ),
            recipe=megatrons(Recipe(recompute=draw.choice(RECOMPUTES))),
            parallel=Parallel(tensor=tensor, sequence_parallel=tensor > 1, pipeline=stages),
            hardware=Hardware(gpu=scenarios.gpu_for(draw, gpus, precision="pure-bf16"), gpus=gpus),
        )
    except InputError:
        return None


def _steps(ends: Ends) -> Iterator[Step]:
    run = ends.run
    a, tensor = run.architecture, run.parallel.tensor
    share = f" / {tensor}" if tensor > 1 else ""
    rows = ends.rows * tensor
    head, wide = EACH * ends.rows * a.hidden, 2 * run.tokens * ends.rows
    yield Step(
        text=f"head: {EACH} × {number(rows)} × {number(a.hidden)}{share} = {paper(head)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"logits: 2 × {number(run.tokens)} × {number(rows)}{share} = {paper(wide)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"{bare_gb(head)} + {bare_gb(wide)} = {paper(head + wide)}", depth="whiteboard"
    )
    first, last = ends.books[0].peak, ends.books[-1].peak
    yield Step(
        text=f"peaks by count: {gb(first)} in the first stage, {gb(last)} in the last, with one "
        "micro-batch in flight"
    )
    yield Step(
        text="give the last stage fewer layers, share the vocabulary over more tensor ranks, or "
        "chunk the loss"
    )
    yield Step(text=f"with the states of the final norm: {gb(ends.size)}")


def _mistakes(ends: Ends) -> Iterator[Mistake]:
    size = ends.size
    yield wrong_size(
        ends.states,
        size,
        "logits forgotten",
        "is the head with its states; the logits of a micro-batch come on top, {off}.",
    )
    yield wrong_size(
        ends.logits,
        size,
        "head forgotten",
        "is the logits; the head lies there with all its states, {off} more.",
    )
    yield wrong_size(
        ends.states * 16 // EACH + ends.logits,
        size,
        "gradients in 16 bits",
        "has 16 bytes a parameter of the head; gradients are accumulated in fp32, {off} more.",
    )
    yield wrong_size(
        ends.states * 2 // EACH + ends.logits,
        size,
        "weights only",
        "has the head's weights alone; gradients, master copy and moments are {off} more.",
    )
    yield from _of_ranks_and_widths(ends)


def _of_ranks_and_widths(ends: Ends) -> Iterator[Mistake]:
    size, tensor = ends.size, ends.run.parallel.tensor
    yield wrong_size(
        ends.states + 2 * ends.logits,
        size,
        "everything in fp32",
        "has fp32 logits; the fused loss keeps them in 16 bits, {off} less.",
    )
    if tensor > 1:
        yield wrong_size(
            size * tensor,
            size,
            "not shared",
            f"is all {tensor} tensor ranks together; each has its part of the vocabulary, {{off}} "
            "less.",
        )
