"""Topic H, real failures: a line of code that keeps something in memory, and how much it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import Category, Ledger, Phase
from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from engine.units import GB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.artefacts.code import ALONE, FAULTS, SHARING, Kept, excerpt
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import gb, number, paper, sentence

LETTERS = "abcde"
PLANTED: dict[Level, tuple[Kept, ...]] = {
    "junior": ("all logits", "all graphs", "one graph", "last logits", "gradients"),
    "mid": ALONE,
    "senior": ("whole weights", "whole weights", "full save", "full save", *SHARING[:3]),
}
OTHERS: dict[Level, tuple[int, int]] = {"junior": (2, 3), "mid": (3, 4), "senior": (3, 4)}
SMALLEST = GB // 10
TOKENS = 256


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """A run in fp32, and what a fault in its program would keep on one GPU."""

    run: Scenario

    @property
    def sharded(self) -> bool:
        """Whether ranks share the model."""
        return self.run.parallel.zero == 3

    @cached_property
    def whole(self) -> Ledger:
        """The ledger of the same model on one GPU."""
        one = replace(self.run.hardware, gpus=1)
        return ledger(replace(self.run, parallel=Parallel(), hardware=one))

    @cached_property
    def book(self) -> Ledger:
        """The run's ledger."""
        return ledger(self.run)

    @property
    def logits(self) -> int:
        """One batch's logits, in fp32."""
        return 4 * self.run.tokens * self.run.architecture.vocab

    @property
    def graph(self) -> int:
        """What one forward pass saves: the layers' activations and the log-probabilities."""
        saved = self.book.total(Category.ACTIVATIONS, phase=Phase.FORWARD)
        return saved + self.book.size("log-softmax")

    def size(self, kept: Kept) -> int:
        """Return the bytes that a fault keeps, each batch or once."""
        if kept in {"all logits", "last logits"}:
            return self.logits
        if kept == "gradients":
            return self.book.total(Category.GRADIENTS, phase=Phase.STEP)
        if kept == "full save":
            return self.whole.total(Category.WEIGHTS, Category.OPTIMIZER_STATE)
        if kept in {"checkpoint", "whole weights"}:
            return self.whole.total(Category.WEIGHTS)
        return self.graph

    def said(self, kept: Kept) -> str:
        """Return the size with how often it comes: "4.20 GB a batch"."""
        size = gb(self.size(kept))
        return f"{size} more a batch" if kept in {"all logits", "all graphs"} else size


@kind_at_levels(
    name="planted-fault",
    topic="H",
    levels=("junior", "mid", "senior"),
    title="What a program keeps in memory",
    sources=(
        "pytorch/pytorch#70431",
        "huggingface/transformers#18947",
        "PyTorch documentation, frequently asked questions: my model reports out of memory",
        "PyTorch documentation, torch.distributed.fsdp.fully_shard, get_state_dict",
    ),
)
def planted_fault(draw: Draw, level: Level) -> Draft | None:
    """Ask what an excerpt keeps that it does not need, out of three to five."""
    shared = level == "senior"
    run = _sharded(draw) if shared else _run(draw)
    if run is None:
        return None
    keeping, right = Keeping(run=run), draw.choice(PLANTED[level])
    could = SHARING if shared else ALONE
    if min(keeping.size(kept) for kept in could) < SMALLEST:
        return None
    if keeping.book.peak > run.hardware.gpu.memory:
        return None
    never = {right, *FAULTS[right].also}
    others = [kept for kept in could if kept not in never]
    count = min(draw.between(*OTHERS[level]), len(others))
    shown = draw.sample((right, *draw.sample(others, count)), count + 1)
    return Draft(
        prompt=render("planted-fault", x=run),
        exhibit=excerpt(right, sharded=shared),
        answer=_answer(shown, right, keeping),
        hints=_hints(right, keeping),
        solution=tuple(_steps(right, keeping)),
        mistakes=(),
        scenario=run,
    )


def _run(draw: Draw) -> Scenario | None:
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    sequence = min(TOKENS * draw.between(1, 16), model.max_sequence)
    try:
        return Scenario(
            model=model,
            workload=Workload(micro_batch=draw.between(1, 16), sequence=sequence),
            recipe=Recipe(precision="fp32"),
            hardware=Hardware(gpu=scenarios.gpu_for(draw, 1, precision="pure-bf16")),
        )
    except InputError:
        return None


def _sharded(draw: Draw) -> Scenario | None:
    model = scenarios.any_model(draw)
    ranks = scenarios.ranks_for(draw, model)
    gpu = scenarios.gpu_for(draw, ranks, precision="pure-bf16")
    run = scenarios.of_states(model, ("fp32", "adamw"), gpu, 3, ranks)
    if run is None or ranks == 1 or 4 * model.parameters > gpu.memory:
        return None
    sequence = min(TOKENS * draw.between(1, 16), run.model.max_sequence)
    return replace(run, workload=Workload(micro_batch=draw.between(1, 16), sequence=sequence))


def _answer(shown: Sequence[Kept], right: Kept, keeping: Keeping) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=FAULTS[kept].name,
                    aliases=(FAULTS[kept].short,),
                    value=Fraction(keeping.size(kept)),
                ),
                mistake="" if kept == right else "another fault than the one planted",
                feedback=_feedback(kept, keeping, right=kept == right),
            )
            for letter, kept in zip(LETTERS, shown, strict=False)
        )
    )


def _feedback(kept: Kept, keeping: Keeping, *, right: bool) -> str:
    name, said = FAULTS[kept].name, keeping.said(kept)
    if right:
        return f"{sentence(name)}, {said}: {FAULTS[kept].why}."
    return f"{sentence(name)} would be {said}; no line here keeps them."


def _hints(right: Kept, keeping: Keeping) -> tuple[str, str, str]:
    trains = "optimizer" in "".join(FAULTS[right].lines)
    where = "a step has ended" if trains else "a batch is done"
    return (
        f"Go through the names line by line: which of them still hold a tensor when {where}?",
        FAULTS[right].nudge,
        f"What it keeps has {keeping.size(right):,} bytes"
        + (" of each batch." if right in {"all logits", "all graphs"} else ", and does not grow."),
    )


def _steps(right: Kept, keeping: Keeping) -> Iterator[Step]:
    yield Step(text=FAULTS[right].why, depth="whiteboard")
    yield Step(
        text=f"{_product(right, keeping)} = {paper(keeping.size(right))}", depth="whiteboard"
    )
    yield Step(text=f"one batch's logits: {gb(keeping.logits)}; its graph: {gb(keeping.graph)}")
    weights = gb(4 * keeping.run.architecture.parameters)
    yield Step(text=f"weights, or gradients, in fp32: {weights}" + " whole" * keeping.sharded)
    yield Step(text=f"what is kept: {FAULTS[right].name}")


def _product(right: Kept, keeping: Keeping) -> str:
    """Return how its size comes about, on paper."""
    run = keeping.run
    parameters = number(run.architecture.parameters)
    if right in {"all logits", "last logits"}:
        return f"4 × {number(run.tokens)} × {number(run.architecture.vocab)}"
    if right == "full save":
        return f"(4 + 8) × {parameters}"
    if right == "gradients" and keeping.sharded:
        return f"4 × {parameters} / {run.parallel.data}"
    if right in {"gradients", "checkpoint", "whole weights"}:
        return f"4 × {parameters}"
    return f"all that {run.architecture.layers} layers save, and the log-probabilities"
