"""Topic B, activations: what the layers save, as a formula."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from engine.architecture import Architecture
from engine.scenario import Model
from problems import scenarios
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.problem import Level, Step
from problems.saved_table import INPUT, Plan, Row, gated_rows, gpt_rows, of_layer, saved
from problems.wording import gb, number, sentence

P = letter("p")
# Ranks of tensor and pipeline parallelism, and lengths of sequences.
SPLITS = (2, 4, 8)
SHORTEST, LONGEST = 64, 16384
NAME_WIDTH = 58
THE = {"norms": "the norms", "attention": "attention", "MLP": "the MLP"}

PLANS = {
    "junior": (
        Plan(),
        Plan(layers="all"),
        Plan(layers="all", recompute="full"),
        Plan(layers="all", recompute="selective"),
    ),
    "mid": (
        Plan(tensor=True),
        Plan(tensor=True, sequence=True),
        Plan(tensor=True, recompute="selective"),
        Plan(layers="all", recompute="full", live=True),
    ),
    "senior": (
        Plan(tensor=True, layers="stage"),
        Plan(tensor=True, sequence=True, layers="stage", recompute="selective"),
        Plan(tensor=True, layers="all", recompute="full", live=True),
        Plan(tensor=True, sequence=True, layers="all", recompute="full", live=True),
        Plan(layers="stage", recompute="full", live=True),
    ),
}


@kind_at_levels(
    name="activations-formula",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="Saved activations as a formula",
    sources=("arXiv 2205.05198 sections 4 and 5", "NVIDIA/Megatron-LM, 1F1B schedule"),
)
def activations_formula(draw: Draw, level: Level) -> Draft | None:
    """Ask for what a layer or all of them save, from a table of a block's tensors."""
    model = scenarios.modelled(draw.choice(_blocks(gated=draw.chance(50))))
    plan = draw.choice(PLANS[level])
    rows = _rows(draw, model.architecture)
    if plan.recompute == "selective" and not any(row.scores for row in rows):
        return None
    right = saved(rows, plan)
    letters = some("".join(dict.fromkeys(_letters(rows) + plan.letters)))
    case = _case(draw, model)
    if not case:
        return None
    return Draft(
        prompt=_prompt(model.title, case, plan) + f" {letters_said(letters)}.",
        exhibit="\n".join(f"{row.name:<{NAME_WIDTH}}{row.size.said}" for row in rows),
        answer=SymbolicAnswer(
            formula=right, letters=letters, mistakes=telling(right, _mistakes(rows, plan))
        ),
        hints=_hints(plan),
        solution=tuple(_steps(rows, plan, {**sizes(model.architecture), **case})),
        mistakes=(),
    )


def _case(draw: Draw, model: Model) -> dict[str, int]:
    """Return sizes of a run that the model can have; nothing where it cannot be split."""
    a = model.architecture
    tensor = [t for t in SPLITS if a.kv_heads % t == 0]
    pipeline = [p for p in SPLITS if a.layers % p == 0]
    if not tensor or not pipeline:
        return {}
    return {
        "s": SHORTEST * draw.between(2, min(model.max_sequence, LONGEST) // SHORTEST),
        "b": draw.between(1, 16),
        "t": draw.choice(tensor),
        "p": draw.choice(pipeline),
    }


@cache
def _blocks(*, gated: bool) -> tuple[str, ...]:
    """Return the models whose block is that of a table: nothing side by side, no further norms."""
    found = {name: scenarios.modelled(name).architecture for name in scenarios.trainable()}
    return tuple(
        name
        for name, a in found.items()
        if a.gated == gated
        and a.qk_norm == "none"
        and not (a.parallel_residual or a.norm_outputs)
        and (gated or a.ffn == 4 * a.hidden)
    )


def sizes(a: Architecture) -> dict[str, int]:
    """Return the letters' values for a shape."""
    return {
        "h": a.hidden,
        "a": a.heads,
        "k": a.kv_heads,
        "d": a.head_dim,
        "f": a.ffn,
        "L": a.layers,
    }


def _rows(draw: Draw, a: Architecture) -> tuple[Row, ...]:
    if a.gated:
        return gated_rows()
    return gpt_rows(dropout=draw.chance(60), eager=draw.chance(60))


def _letters(rows: Sequence[Row]) -> str:
    used = frozenset().union(*(row.size.letters for row in rows))
    return "".join(name for name in "sbhakdf" if name in used)


def _prompt(title: str, case: dict[str, int], plan: Plan) -> str:
    sequences = "sequence" if case["b"] == 1 else "sequences"
    asked = {
        "one": "does one layer",
        "all": "do all L layers together",
        "stage": "does the first stage, its micro-batches in flight counted,",
    }[plan.layers]
    live = ", with the layer that is being run again" if plan.live else ""
    return (
        f"The table has what a layer of {title} saves for the backward pass, in bytes. The run at "
        f"hand has micro-batches of b = {case['b']} {sequences} of s = {number(case['s'])} "
        f"tokens.\n{_run_said(plan, case)}\nHow many bytes {asked} keep on a GPU{live}? Leave out "
        "logits and loss. Answer with a formula in these letters, numbers as numbers:"
    )


def _run_said(plan: Plan, case: dict[str, int]) -> str:
    parts = []
    if plan.tensor:
        with_it = "with" if plan.sequence else "without"
        parts.append(
            f"tensor parallelism over t = {case['t']} GPUs {with_it} sequence parallelism"
        )
    if plan.layers == "stage":
        parts.append(f"a pipeline of p = {case['p']} stages of equal depth under 1F1B")
    parts.append(
        {
            "none": "no recomputation",
            "selective": "selective recomputation, which keeps nothing that has s × s entries",
            "full": "full recomputation, which keeps the 2-byte input of each layer"
            + (", split over the t GPUs too" if plan.sequence else ""),
        }[plan.recompute]
    )
    return f"{sentence('; '.join(parts))}."


def _hints(plan: Plan) -> tuple[str, str, str]:
    first = "Go down the table: which rows are kept in this run, and which does a GPU hold whole?"
    if plan.tensor and plan.sequence:
        second = "Sequence parallelism divides by t what tensor parallelism leaves whole."
    elif plan.tensor:
        second = "Tensor parallelism divides what lies between a split matrix and the next one: "
        second += "norms, their neighbours and dropout masks on the residual stream stay whole."
    else:
        second = "Nothing here is split over GPUs, so each row counts as it stands."
    third = {
        "one": "Take the rows of s·b together and put s·b in front.",
        "all": f"Full recomputation keeps {INPUT.said} a layer."
        if plan.recompute == "full"
        else "Add the rows of one layer and multiply by L.",
        "stage": "The first of p stages has L/p layers and p micro-batches in flight.",
    }[plan.layers]
    if plan.live:
        third += " The layer that is run again keeps all of its rows for that moment; its own "
        third += "input is among those kept."
    return first, second, third


def _steps(rows: Sequence[Row], plan: Plan, values: dict[str, int]) -> Iterator[Step]:
    if plan.recompute != "full" or plan.live:
        whole = replace(plan, recompute="none") if plan.live else plan
        for part in ("norms", "attention", "MLP"):
            size = of_layer([row for row in rows if row.part == part], whole)
            yield Step(text=f"{part}: {size.said}", depth="whiteboard")
        yield Step(text=f"a layer: {of_layer(rows, whole).said}", depth="whiteboard")
    kept = of_layer(rows, plan).said
    if plan.recompute == "full":
        yield Step(text=f"kept of each layer: {kept}", depth="whiteboard")
    if plan.live:
        text = f"the input of the layer that is run again is kept already: {kept} less"
        yield Step(text=text, depth="whiteboard")
    if plan.layers == "stage":
        text = "the first stage: p micro-batches × L/p layers, as many as one through all L"
        yield Step(text=text, depth="whiteboard")
    right = saved(rows, plan)
    names = [name for name in values if name in right.letters]
    said = ", ".join(f"{name} = {number(values[name])}" for name in names)
    yield Step(text=f"for the run at hand, {said}: {gb(right.at(values))}")
    yield Step(text=f"together: {right.said}")


def _mistakes(rows: Sequence[Row], plan: Plan) -> Iterator[WrongFormula]:
    right = saved(rows, plan)
    if plan.tensor:
        says = "divides nothing by t; the rows between split matrices are divided."
        alone = replace(plan, tensor=False, sequence=False)
        yield wrong("activations left whole", saved(rows, alone), says)
        if plan.sequence:
            says = "is tensor parallelism alone; sequence parallelism divides the rest too."
            other = replace(plan, sequence=False)
            yield wrong("sequence parallelism forgotten", saved(rows, other), says)
        else:
            says = "divides all by t; without sequence parallelism the residual stream's stay."
            other = replace(plan, sequence=True)
            yield wrong("all activations split", saved(rows, other), says)
    if plan.layers == "stage":
        live = saved(rows, plan) - saved(rows, replace(plan, live=False))
        kept = right - live
        says = "has one micro-batch in the first stage; 1F1B keeps p of them there."
        yield wrong("activations divided by the stages", kept / P + live, says)
        says = "has p micro-batches of all L layers; a stage has L/p of them."
        yield wrong("all layers on a stage", kept * P + live, says)
    yield from _of_recomputation(rows, plan)
    if plan.recompute != "full":
        for part in ("MLP", "attention", "norms"):
            rest = [row for row in rows if row.part != part]
            yield wrong(f"{part} forgotten", saved(rest, plan), f"leaves out {THE[part]}.")


def _of_recomputation(rows: Sequence[Row], plan: Plan) -> Iterator[WrongFormula]:
    if plan.live:
        says = "has the input of the layer that is run again twice: it is one of those kept."
        kept = of_layer(rows, plan)
        yield wrong("a layer's input counted twice", saved(rows, plan) + kept, says)
        says = "is the layers' inputs alone; the layer that is run again comes on top."
        yield wrong("live layer forgotten", saved(rows, replace(plan, live=False)), says)
    if plan.recompute != "none":
        says = "is what the layers would keep without recomputation."
        without = replace(plan, recompute="none", live=False)
        yield wrong("recomputation forgotten", saved(rows, without), says)
    else:
        says = "is the input of a layer alone, as full recomputation keeps it."
        yield wrong("layer inputs only", saved(rows, replace(plan, recompute="full")), says)
    if plan.recompute == "none" and any(row.scores for row in rows):
        says = "leaves out the rows that grow with the square of s."
        yield wrong("scores forgotten", saved(rows, replace(plan, recompute="selective")), says)
    if plan.layers == "all" and not plan.live:
        says = "is one layer; there are L of them."
        yield wrong("one layer for all", saved(rows, replace(plan, layers="one")), says)
