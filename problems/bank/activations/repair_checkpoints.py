"""Topic B, activations: what recomputation keeps, worked out with one wrong step."""

from collections.abc import Iterator
from dataclasses import replace
from math import isqrt

from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level
from problems.repairs import repair
from problems.worked import Line, Worked, WrongLine
from problems.worked_layers import EACH, MOST_SEQUENCES, Kept

CHECKPOINTS = (1, 2, 3, 4)
RUN_AGAIN = (
    "Full recomputation keeps each layer's input and runs one layer at a time again; attention is "
    "fused and there is no dropout. A layer that runs again has norms with inputs and outputs, q, "
    "k, v and attention's output, and the MLP's tensors. Somebody adds up what is there meanwhile."
)
MANY_INPUTS = "How many inputs are kept, and of what size?"


@kind_at_levels(
    name="repair-checkpoints",
    topic="B",
    levels=("junior", "senior"),
    title="The first wrong step of a sum of checkpoints",
    sources=(
        "jax-ml/scaling-book applied-training.md",
        "notes.tczhong.com/notes/x0zq5fhec0rw4x81c0q5cg4",
        "arXiv 1604.06174",
    ),
)
def repair_checkpoints(draw: Draw, level: Level) -> Draft | None:
    """Ask for the first wrong step of what layers keep that recompute the rest."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none",))
    if scenario.recipe.attention != "flash":
        return None
    scenario = scenarios.with_micro_batch(scenario, draw.between(2, MOST_SEQUENCES))
    kept = Kept(scenario=replace(scenario, recipe=replace(scenario.recipe, dropout=0.0)))
    if level == "senior":
        about = f"{kept.about(letters=True)} {RUN_AGAIN}"
        return repair(draw, about, recomputed(kept), (*_recomputed_wrongs(kept),))
    times = draw.choice(CHECKPOINTS)
    tensors = "one tensor" if times == 1 else f"{times} tensors"
    about = (
        f"{kept.about(letters=False)} Each layer keeps {tensors} of h elements a token for the "
        "backward pass and recomputes all else. Somebody adds up what all layers keep."
    )
    return repair(draw, about, all_kept(kept, times), (*_kept_wrongs(kept, times),))


def all_kept(kept: Kept, times: int) -> Worked:
    """Return what all layers keep that keep so many tensors each."""
    return Worked(lines=(kept.tokens(), kept.one(), _of_layer(times), kept.all_of("layer")))


def _of_layer(times: int) -> Line:
    return Line(
        key="layer",
        says=f"a layer: {times} × {{tensor}}",
        of=lambda values: times * values["tensor"],
    )


def _kept_wrongs(kept: Kept, times: int) -> Iterator[WrongLine]:
    yield kept.one_sequence()
    yield from kept.other_units()
    for other, name, less in (
        (times + 1, "a checkpoint too many", "less"),
        (times - 1, "a checkpoint too few", "more"),
    ):
        if other:
            wrong = _of_layer(other)
            yield _of_layer(times).wrong(
                name,
                wrong.says,
                wrong.of,
                why=f"has {other} for a layer, where it keeps {times}: {{off}} {less}.",
                nudge="How many tensors does a layer keep?",
            )


def recomputed(kept: Kept) -> Worked:
    """Return what is there while a layer runs again."""
    formula = " + ".join(term.formula for term in kept.terms)
    each = sum(term.each for term in kept.terms)
    again = Line(
        key="each",
        says=f"a layer that runs again: {formula}",
        of=lambda _: each,
        form="each",
        noun=EACH,
    )
    total = Line(
        key="total",
        says="together: {all} + {layer}",
        of=lambda values: values["all"] + values["layer"],
    )
    return Worked(
        lines=(kept.tokens(), kept.one(), kept.all_of("tensor"), again, kept.whole_layer(), total)
    )


def _recomputed_wrongs(kept: Kept) -> Iterator[WrongLine]:
    _, _, inputs, each, layer, total = recomputed(kept).lines
    layers, rule, h = kept.shape.layers, kept.rule, kept.shape.hidden
    yield kept.one_sequence()
    yield from kept.other_units()
    yield from _input_wrongs(inputs, layers)
    yield each.wrong(
        "the 34·h rule",
        f"a layer that runs again: {rule}h",
        lambda _: rule * h,
        why="is the rule of a GPT block with dropout.",
        nudge="Which tensors does this layer have, and how wide are they?",
    )
    yield layer.wrong(
        "all layers counted",
        f"a layer: {layers} × {{tokens}} tokens × {{each}} bytes",
        lambda values: layers * values["tokens"] * values["each"],
        why="has all layers there at once; one at a time runs again, {off} less.",
        nudge="How many layers are there in full at once?",
    )
    yield total.wrong(
        "the layer run again forgotten",
        "together: {all}",
        lambda values: values["all"],
        why="is the kept inputs alone; the layer that runs again is {off} more.",
        nudge="What is there besides the inputs that are kept?",
    )


def _input_wrongs(inputs: Line, layers: int) -> Iterator[WrongLine]:
    root = isqrt(layers)
    yield inputs.wrong(
        "the root of the layers",
        f"all layers: {root} × {{tensor}}",
        lambda values: root * values["tensor"],
        why=f"keeps the input of {root} layers; here all {layers} keep their own, {{off}} more.",
        nudge=MANY_INPUTS,
    )
    yield inputs.wrong(
        "a checkpoint too many",
        f"all layers: 2 × {layers} × {{tensor}}",
        lambda values: 2 * layers * values["tensor"],
        why="keeps two tensors of each layer; full recomputation keeps one, {off} less.",
        nudge=MANY_INPUTS,
    )
