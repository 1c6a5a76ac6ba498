"""Conditions that somebody states about a run: the run they make, and what else it might be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import Phase
from engine.optimizers import optimizers
from engine.scenario import Recipe, Scenario
from problems.answers.conditions import Measure
from problems.exact import saved, totals
from problems.model_states import each_of, parts_of
from problems.wording import number

CONDITIONS: Mapping[str, str] = {
    "precision": "the precision",
    "optimizer": "the optimizer",
    "micro-batch": "the micro-batch",
    "length": "the length of the sequences",
    "attention": "the attention kernel",
    "recomputation": "whether activations are recomputed",
    "sharding": "how many GPUs share the states, and by which ZeRO stage",
}
# What each is told by.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "precision": ("precision", "each"),
    "optimizer": ("optimizer", "each"),
    "micro-batch": ("micro_batch",),
    "length": ("sequence",),
    "attention": ("attention",),
    "recomputation": ("recompute",),
    "sharding": ("gpus", "zero"),
}
PRECISIONS_SAID = {
    "fp32": "fp32",
    "mixed": "mixed precision",
    "mixed-fp32-grad": "mixed precision with fp32 gradients",
    "autocast": "autocast",
    "pure-bf16": "pure bf16",
}
# From so many times more or less on a condition overturns an answer.
OVERTURNS = Fraction(13, 10)
ZERO_OVER = 8


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What was stated of a run; None where nothing was.

    Args:
        each: bytes of model states a parameter, as a convention of its own.
    """

    precision: str | None = None
    optimizer: str | None = None
    micro_batch: int | None = None
    sequence: int | None = None
    accumulation: int | None = None
    attention: str | None = None
    recompute: str | None = None
    gpus: int | None = None
    zero: int | None = None
    each: Fraction | None = None

    @property
    def conditions(self) -> frozenset[str]:
        """The conditions of which something was stated."""
        said = {one.name for one in fields(self) if getattr(self, one.name) is not None}
        return frozenset(key for key, names in FIELDS.items() if said & {*names})


def configured(base: Scenario, stated: Stated) -> Scenario:
    """Return the run that was stated, the rest as in `base`.

    Raises:
        InputError: it cannot be, or is not modelled.
    """
    work, recipe, parallel = base.workload, base.recipe, base.parallel
    gpus = stated.gpus or (ZERO_OVER if stated.zero else base.hardware.gpus)
    zero = parallel.zero if stated.zero is None else stated.zero
    return replace(
        base,
        workload=replace(
            work,
            micro_batch=stated.micro_batch or work.micro_batch,
            sequence=stated.sequence or work.sequence,
            gradient_accumulation=stated.accumulation or work.gradient_accumulation,
        ),
        recipe=replace(
            recipe,
            precision=stated.precision or recipe.precision,
            optimizer=stated.optimizer or recipe.optimizer,
            attention=stated.attention or recipe.attention,
            recompute=stated.recompute or recipe.recompute,
        ),
        parallel=replace(parallel, data=gpus, zero=zero if gpus > 1 else 0),
        hardware=replace(base.hardware, gpus=gpus),
    )


def size(scenario: Scenario, measure: Measure, stated: Stated = Stated()) -> int:
    """Return the bytes that are asked for, with another convention of states where one was stated.

    The optimizer's own step is left out: what it needs beside the states is another question.
    """
    book = ledger(scenario)
    if measure == "activations":
        return saved(book)
    peak = max(
        sum(sizes.values()) for phase, sizes in totals(book).items() if phase is not Phase.STEP
    )
    if stated.each is None:
        return peak
    recipe, parallel = scenario.recipe, scenario.parallel
    usual = each_of(parts_of(recipe.precision, recipe.optimizer))
    ranks = parallel.data if parallel.zero else 1
    return peak + round((stated.each - usual) * scenario.architecture.parameters / ranks)


def kernel_said(recipe: Recipe) -> str:
    """Return "flash", "fused" where FlashAttention, which is 16-bit, cannot run, or "eager"."""
    fused = recipe.attention == "flash" and recipe.precision == "fp32"
    return "fused" if fused else recipe.attention


def in_words(key: str, scenario: Scenario) -> str:
    """Return how one of the conditions is in a run: "mixed precision", "b = 1"."""
    recipe, work, parallel = scenario.recipe, scenario.workload, scenario.parallel
    gpus = scenario.hardware.gpus
    stage = f"ZeRO-{parallel.zero}" if parallel.zero else "DDP"
    return {
        "precision": PRECISIONS_SAID[recipe.precision],
        "optimizer": optimizers()[recipe.optimizer].title.removeprefix("fused "),
        "micro-batch": f"b = {work.micro_batch}",
        "length": f"s = {number(work.sequence)}",
        "attention": f"{kernel_said(recipe)} attention",
        "recomputation": "no recomputation"
        if recipe.recompute == "none"
        else f"{recipe.recompute} recomputation",
        "sharding": "one GPU" if gpus == 1 else f"{stage} over {gpus} GPUs",
    }[key]


def others(key: str, scenario: Scenario) -> Iterator[Scenario]:
    """Yield the run with other usual values of one condition, where these can be."""
    recipe, work = scenario.recipe, scenario.workload
    longest = scenario.model.max_sequence or work.sequence
    rows = {
        "precision": (Stated(precision="pure-bf16"), Stated(precision="fp32")),
        "optimizer": (Stated(optimizer="adamw-8bit"), Stated(optimizer="sgd")),
        "micro-batch": (Stated(micro_batch=8 * work.micro_batch),),
        "length": (Stated(sequence=min(longest, 4 * work.sequence)),),
        "attention": (Stated(attention="eager" if recipe.attention == "flash" else "flash"),),
        "recomputation": (Stated(recompute="none" if recipe.recompute == "full" else "full"),),
        "sharding": (Stated(gpus=ZERO_OVER, zero=3),),
    }
    for stated in rows[key]:
        try:
            other = configured(scenario, stated)
        except InputError:
            continue
        if other != scenario:
            yield other
