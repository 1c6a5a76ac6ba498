"""Topic H, real failures: recomputation is on and the peak has not moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import Category, Ledger, Phase
from engine.scenario import Hardware, Recipe, Scenario, Workload
from engine.units import GB, GIB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import gb, sentence

LETTERS = "abcde"
Why = Literal["off", "segment", "moment", "stale", "frozen"]
NAMES: dict[Why, tuple[str, str]] = {
    "off": ("it is not applied to the layers", "off"),
    "segment": ("all layers are one segment", "segment"),
    "moment": ("another moment is the peak", "moment"),
    "stale": ("the maximum is of the time before", "stale"),
    "frozen": ("no input needs gradients", "frozen"),
}
CHECKS: dict[Why, str] = {
    "off": "does the flag reach the layers, and are they in train mode",
    "segment": "wrap each layer by itself: one segment brings everything back at once",
    "moment": "take from the optimizer's step: a fused optimizer, shards, 8-bit states",
    "stale": "call torch.cuda.reset_peak_memory_stats() after warm-up",
    "frozen": "call enable_input_require_grads, or the backward pass ends at the first segment",
}
# "frozen" lowers the peak, and is offered beside these.
WEIGHTS: tuple[tuple[Why, int], ...] = (
    ("off", 2),
    ("segment", 12),
    ("moment", 5),
    ("stale", 2),
)
OTHERS: dict[Level, tuple[int, int]] = {"mid": (2, 3), "senior": (3, 4)}
# How much lower the peak of forward and backward is at least where recomputation does its work.
NOTABLE = Fraction(15, 100)
SAME = Fraction(98, 100)
NEARLY = Fraction(93, 100)
ROOM = Fraction(95, 100)
SHORT = (128, 192, 256, 384, 512, 768, 1024, 2048)
LONG = (512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384)
PRECISIONS = ("mixed", "mixed", "fp32", "pure-bf16")
OPTIMIZERS = ("adamw", "adamw", "adamw-fused", "sgd-momentum")
ROWS = ("after the forward pass", "most in the backward pass", "most in the optimizer's step")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A run without recomputation, and the same one with every layer recomputed."""

    without: Scenario

    @cached_property
    def books(self) -> tuple[Ledger, Ledger]:
        """The two ledgers."""
        recipe = replace(self.without.recipe, recompute="full")
        return ledger(self.without), ledger(replace(self.without, recipe=recipe))

    @property
    def inputs(self) -> int:
        """What is kept of the layers where each is recomputed by itself: the input of each."""
        return self.books[1].total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)

    @property
    def spared(self) -> int:
        """The inputs that one segment of all layers does without: it keeps its own alone."""
        return self.inputs - self.inputs // self.without.architecture.layers

    @property
    def at_once(self) -> int:
        """Most in the backward pass where one segment brings all layers back at its beginning."""
        plain, thin = self.books
        last = plain.phases[Phase.BACKWARD_LAST]
        loss = thin.phases[Phase.LOSS] - self.spared
        return max(loss, plain.phases[Phase.BACKWARD_FIRST], last)

    def rows(self, why: Why) -> tuple[tuple[int, int], ...]:
        """Return what is measured without and with it, and the two maxima that are printed."""
        plain, thin = (_moments(book) for book in self.books)
        measured = {
            "off": plain,
            "segment": (thin[0] - self.spared, self.at_once, plain[2]),
        }.get(why, thin)
        most = max(plain)
        top = most if why == "stale" else max(measured)
        return (*zip(plain, measured, strict=True), (most, top))


def _moments(book: Ledger) -> tuple[int, int, int]:
    """Return what is alive after the forward pass, and most of backward and of the step."""
    phases = book.phases
    saved = book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
    rest = book.total(Category.WEIGHTS, Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE)
    backward = max(phases[Phase.LOSS], phases[Phase.BACKWARD_FIRST], phases[Phase.BACKWARD_LAST])
    return rest + saved + book.size("log-softmax"), backward, phases[Phase.STEP]


@kind_at_levels(
    name="recompute-idle",
    topic="H",
    levels=("mid", "senior"),
    title="Recomputation that does not lower the peak",
    sources=("pytorch/pytorch#147449", "PyTorch documentation, torch.utils.checkpoint"),
)
def recompute_idle(draw: Draw, level: Level) -> Draft | None:
    """Ask why the peak has not moved, out of three to five, by what was measured in both runs."""
    right = draw.weighted(WEIGHTS)
    pair = _pair(draw, right)
    if pair is None:
        return None
    run, rows = pair.without, pair.rows(right)
    if not _shows(pair, right):
        return None
    others = [why for why in NAMES if why != right]
    count = draw.between(*OTHERS[level])
    shown = draw.sample((right, *draw.sample(others, count)), count + 1)
    gradients = pair.books[0].total(Category.GRADIENTS, phase=Phase.STEP)
    return Draft(
        prompt=render("recompute-idle", x=run),
        exhibit="\n".join(_table(rows, gradients)),
        answer=_answer(shown, right, rows, gradients),
        hints=_hints(rows),
        solution=tuple(_steps(rows, right, pair)),
        mistakes=(),
        scenario=run,
    )


def _pair(draw: Draw, why: Why) -> Pair | None:
    """Return a run on a card that it fits, None where what was drawn is none."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    lengths = SHORT if why == "moment" else LONG
    sequence = draw.choice([length for length in lengths if length <= model.max_sequence])
    try:
        run = Scenario(
            model=model,
            workload=Workload(sequence=sequence, micro_batch=draw.between(1, 12)),
            recipe=Recipe(precision=draw.choice(PRECISIONS), optimizer=draw.choice(OPTIMIZERS)),
            hardware=Hardware(gpu=scenarios.gpu_for(draw, 1, precision="pure-bf16")),
        )
        pair = Pair(without=run)
        fits = pair.books[0].peak <= run.hardware.gpu.memory * ROOM
    except InputError:
        return None
    return pair if fits else None


def _shows(pair: Pair, why: Why) -> bool:
    """Return whether the two runs show this reason and no other."""
    plain, thin = (_moments(book) for book in pair.books)
    lower = 1 - Fraction(max(thin[:2]), max(plain[:2])) >= NOTABLE
    step_binds = plain[2] >= max(plain[:2])
    if why == "segment" and pair.at_once < NEARLY * max(plain):
        return False
    if why == "moment":
        return step_binds and 1 - Fraction(thin[1], plain[1]) >= NOTABLE / 2
    return lower and not step_binds and plain[2] <= SAME * max(plain[:2])


def _table(rows: Sequence[tuple[int, int]], gradients: int) -> Iterator[str]:
    yield f"{'':34}{'without':>12}{'with':>14}"
    for name, (one, other) in zip(ROWS, rows, strict=False):
        yield f"{name:<34}{_gib(one):>12}{_gib(other):>14}"
    yield f"{'gradients before the step':<34}{_gib(gradients):>12}{_gib(gradients):>14}"
    one, other = rows[-1]
    yield f"{'torch.cuda.max_memory_allocated()':<34}{_gib(one):>12}{_gib(other):>14}"


def _gib(size: int) -> str:
    return f"{size / GIB:,.2f} GiB"


def _answer(
    shown: Sequence[Why], right: Why, rows: Sequence[tuple[int, int]], gradients: int
) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=NAMES[why][0],
                    aliases=NAMES[why][1:],
                    value=Fraction(int(why == right)),
                ),
                mistake="" if why == right else "another reason than the one measured",
                feedback=sentence(_feedback(why, rows, gradients)),
            )
            for letter, why in zip(LETTERS, shown, strict=False)
        )
    )


def _feedback(why: Why, rows: Sequence[tuple[int, int]], gradients: int) -> str:
    (before, after), (wide, narrow), (_, step), (_, top) = rows
    if why == "off":
        return f"after the forward pass {_gb(after)} are alive with it, {_gb(before)} without."
    if why == "segment":
        return (
            f"the forward pass leaves {_gb(after)} for {_gb(before)}, and the backward pass has "
            f"{_gb(narrow)} for {_gb(wide)}."
        )
    if why == "moment":
        return f"the optimizer's step has {_gb(step)}, the backward pass {_gb(narrow)} with it."
    if why == "stale":
        most = max(after, narrow, step)
        return f"the largest moment with it has {_gb(most)}; the maximum says {_gb(top)}."
    return f"gradients of {_gb(gradients)} are there before the step: the layers are trained."


def _gb(size: int) -> str:
    return gb(size) if gb(size).endswith("GB") else f"{size / GB:.3f} GB"


def _hints(rows: Sequence[tuple[int, int]]) -> tuple[str, str, str]:
    (before, after), (wide, narrow), (_, step), (_, top) = rows
    return (
        "Row by row: what should recomputation lower, and what can it not?",
        (
            "It lowers what the forward pass leaves, and with it the backward pass, unless it "
            "brings all layers back at once. The optimizer's step stays."
        ),
        (
            f"After the forward pass {_gb(before)} and {_gb(after)}, in the backward pass "
            f"{_gb(wide)} and {_gb(narrow)}, in the step {_gb(step)}; the maximum is {_gb(top)}."
        ),
    )


def _steps(rows: Sequence[tuple[int, int]], right: Why, pair: Pair) -> Iterator[Step]:
    for name, (one, other) in zip(ROWS, rows, strict=False):
        than = "as before" if one == other else f"lower by {_gb(one - other)}"
        yield Step(text=f"{name}: {_gb(other)} with it, {than}", depth="whiteboard")
    saved = pair.books[0].total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
    first = _gb(pair.inputs - pair.spared)
    alone = f", the input of the first {first}" if right == "segment" else ""
    yield Step(
        text=f"by count the layers save {_gb(saved)}, and their inputs alone "
        f"{_gb(pair.inputs)}{alone}"
    )
    yield Step(text=f"what to do: {CHECKS[right]}")
    yield Step(text=f"the reason: {NAMES[right][0]}")
