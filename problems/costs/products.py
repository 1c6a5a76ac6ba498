"""What recomputation and a pipeline cost in time of the matrix products."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.costs.flops import MicroBatch
from engine.scenario import Hardware, Recipe, Scenario, Workload
from engine.units import GB
from problems import scenarios
from problems.amounts import in_billions
from problems.answers.factor import FactorAnswer
from problems.costs.told import Row, is_near, told
from problems.counted import products
from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Step
from problems.prompts import render
from problems.wording import billions, digits_of, number, rounded, short

STAGES = (2, 4, 8, 16)
REPLICAS = (1, 2, 4, 8, 16)
MICRO_BATCHES = (4, 8, 12, 16, 24, 32, 48, 64, 128)


def full_recompute(draw: Draw) -> Draft | None:
    """Ask for the share of FLOPs that full recomputation adds."""
    return _recomputed(draw, "full", "flash")


def selective_recompute(draw: Draw) -> Draft | None:
    """Ask for the share of FLOPs that recomputing attention adds, scores written out."""
    return _recomputed(draw, "selective", "eager")


def _recomputed(draw: Draw, which: str, attention: str) -> Draft | None:
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    base = Scenario(
        model=model,
        workload=Workload(sequence=scenarios.sequence_for(draw, model, attention=attention)),
        recipe=Recipe(attention=attention),
        hardware=Hardware(gpu=scenarios.gpu_for(draw, scenarios.NODE, precision="pure-bf16")),
    )
    if model.architecture.window:
        return None
    before = products(base)
    again = products(replace(base, recipe=replace(base.recipe, recompute=which)))
    answer = Fraction(again.recomputed.total, before.total)
    sums = Token.of(base, before)
    if not is_near(sums.share(which), answer):
        return None
    return Draft(
        prompt=render(
            "cost-recompute",
            x=base,
            which=which,
            layers=billions(sums.layers // 2),
            head=billions(sums.head // 2),
        ),
        answer=FactorAnswer(value=answer, share=True),
        hints=_recompute_hints(which, sums),
        solution=tuple(_recompute_steps(which, before, sums, answer)),
        mistakes=told(_recompute_mistakes(which, again, before), short),
        scenario=base,
    )


@dataclass(frozen=True, kw_only=True)
class Token:
    """FLOPs of a token's forward pass on paper.

    Attributes:
        pairs: FLOPs of attention for one position that is attended to, over s.
    """

    layers: int
    attention: int
    head: int
    pairs: int

    @classmethod
    def of(cls, scenario: Scenario, work: MicroBatch) -> "Token":
        """Return them with weights to three digits."""
        a, tokens = scenario.architecture, scenario.tokens
        pairs = 2 if scenario.recipe.attention == "flash" else 4
        return cls(
            layers=2 * rounded(work.forward.linear // (2 * tokens)),
            attention=pairs * scenario.workload.sequence * a.query_width * a.layers,
            head=2 * rounded(work.forward.head // (2 * tokens)),
            pairs=pairs,
        )

    @property
    def forward(self) -> int:
        """FLOPs of the forward pass."""
        return self.layers + self.attention + self.head

    def again(self, which: str) -> int:
        """Return the FLOPs that recomputation runs once more."""
        return self.attention + (self.layers if which == "full" else 0)

    def share(self, which: str) -> Fraction:
        """Return those over the FLOPs of a step: a backward pass takes twice the forward."""
        return Fraction(self.again(which), 3 * self.forward)


def _flop(value: int) -> str:
    return f"{digits_of(Fraction(value, GB))} GFLOP"


def _recompute_hints(which: str, sums: Token) -> tuple[str, str, str]:
    runs = "attention's two products alone" if which == "selective" else "the layers alone"
    return (
        "A step is one forward pass and a backward pass of twice its FLOPs. What runs again?",
        (
            "Forward, each token takes 2 FLOPs for each weight in a matrix, and 4·a·d a layer "
            "for each position that it attends to: all s, or half of them under a causal mask."
        ),
        (
            f"Forward a token takes {_flop(sums.layers)} in the layers' matrices, "
            f"{_flop(sums.attention)} in attention and {_flop(sums.head)} in the head. Once more "
            f"run {runs}."
        ),
    )


def _recompute_steps(
    which: str, work: MicroBatch, sums: Token, answer: Fraction
) -> Iterator[Step]:
    again, step = sums.again(which), 3 * sums.forward
    for text in (
        f"a token forward, layers: 2 × {in_billions(sums.layers // 2)} = {_flop(sums.layers)}",
        f"attention: {sums.pairs}·s·a·d in each layer = {_flop(sums.attention)}",
        f"head: 2 × {in_billions(sums.head // 2)} = {_flop(sums.head)}",
        f"forward and backward: 3 × {_flop(sums.forward)} = {_flop(step)}",
        f"once more: {_flop(again)}, over {_flop(step)}: {digits_of(sums.share(which))}",
    ):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"counted: {number(work.total)} FLOPs in a micro-batch of one sequence")
    yield Step(text=f"With nothing rounded: {short(answer)}")


def _recompute_mistakes(which: str, again: MicroBatch, before: MicroBatch) -> Iterator[Row]:
    forward, added = before.forward, again.recomputed.total
    yield (
        "compared with the forward pass",
        Fraction(added, forward.total),
        "is the share of the forward pass; a step has the backward pass too, of twice as much.",
    )
    yield (
        "compared with the backward pass",
        Fraction(added, before.backward.total),
        "is the share of the backward pass; a step has the forward pass too.",
    )
    if which == "full":
        yield (
            "head run again",
            Fraction(forward.total, before.total),
            f"runs the head again too, {short(Fraction(forward.head, before.total))} of a step.",
        )
        yield (
            "forward and backward again",
            Fraction(1),
            "repeats all of the step; only the forward pass of the layers runs again.",
        )
    else:
        yield (
            "the whole layer run again",
            Fraction(forward.linear + forward.attention, before.total),
            "is full recomputation, which runs the linear layers again too.",
        )
        yield (
            "half of the scores",
            Fraction(added, 2 * before.total),
            "counts half of the scores; eager attention makes those that the mask hides too.",
        )


def bubble(draw: Draw) -> Draft | None:
    """Ask for the share by which fill and drain of a pipeline lengthen a step."""
    stages, replicas = draw.choice(STAGES), draw.choice(REPLICAS)
    many = draw.choice([m for m in MICRO_BATCHES if m >= stages])
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    if model.architecture.layers % stages:
        return None
    answer = Fraction(stages - 1, many)
    lines = (
        f"busy with m = {many} micro-batches, forward and backward",
        f"idle as long as p - 1 of them take: {stages - 1}",
        f"({stages} - 1)/{many}: {digits_of(answer)}",
    )
    return Draft(
        prompt=render(
            "cost-bubble", model=model, gpus=stages * replicas, stages=stages, micro_batches=many
        ),
        answer=FactorAnswer(value=answer, share=True),
        hints=(
            "Draw the first micro-batch's way through the stages, and the last one's way back.",
            "The last stage waits for p - 1 others before its first micro-batch, forward.",
            "In the backward pass the first stage waits for as many: p - 1 micro-batches in all.",
        ),
        solution=(
            *(Step(text=text, depth="whiteboard") for text in lines),
            Step(text=f"Nothing else is left of the difference: {short(answer)}"),
        ),
        mistakes=told(_bubble_mistakes(stages, many), short),
    )


def _bubble_mistakes(stages: int, many: int) -> Iterator[Row]:
    others = stages - 1
    yield (
        "share of the whole step",
        Fraction(others, many + others),
        "is the share of the whole step, the bubble in it; asked is over the work.",
    )
    yield (
        "p for p - 1",
        Fraction(stages, many),
        "is p/m; a stage waits for the p - 1 others, not for itself.",
    )
    yield (
        "both ways counted apart",
        Fraction(2 * others, many),
        "counts p - 1 twice; forward and backward of a micro-batch are one of m.",
    )
    yield (
        "micro-batches forgotten",
        Fraction(others, stages),
        "is (p - 1)/p, as with as many micro-batches as stages.",
    )
    yield "the inverse", Fraction(many, others), "is the work over the bubble, the inverse."
