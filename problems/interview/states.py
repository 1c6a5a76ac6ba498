"""The states, per parameter and on each GPU, and what sharding leaves whole."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from engine.catalog import models
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from problems.bank.states import bytes_per_parameter, model_states
from problems.draft import Draft
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.runs import Followed
from problems.interview.script import Move, Point, Question, Reuse, Width
from problems.model_states import STAGES, each_of, size_of, total_said
from problems.on_paper import ends_of, parameters_of, run_parts
from problems.wording import FP32_SHARD, bytes_of, gb, listed, number, sentence, short

NAMES: Mapping[str, str] = {
    "weights": "weights",
    FP32_SHARD: "fp32-shard",
    "gradients": "gradients",
    "master copy": "master-copy",
    "moments": "moments",
    "momentum": "momentum",
}


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on the model states."""
    yield Posed(question=_terms(talk), takes=1)
    yield Posed(question=_each(talk), takes=1, turn=15 if talk.level == "senior" else 0)
    yield Posed(question=_states(talk), takes=2)
    yield Posed(question=_exclusions(talk), takes=1)
    yield Posed(question=_on_others(talk), takes=1, turn=13)
    if talk.runs.stepped is not None:
        yield Posed(question=_stepped(talk, talk.runs.stepped), takes=2, turn=20)


def sized(scenario: Scenario) -> int:
    """Return the model states on a GPU, each shard rounded up to whole parameters."""
    parallel = scenario.parallel
    return size_of(
        run_parts(scenario), parameters_of(scenario.architecture), parallel.zero, parallel.data
    )


def _terms(talk: Talk) -> Question:
    return Question(
        key="state-terms",
        aspect="terms",
        says="Take one parameter. Which tensors have an entry for it, and how wide are they?",
        scenario=talk.scenario,
        points=tuple(_with_widths(talk)),
        stronger=(
            "Names each tensor with its width and says which convention is used: 12, 16, 18 or 20 "
            "bytes a parameter are all heard, and each leaves out something else."
        ),
        practises=("bytes-per-parameter", "states-ledger", "own-convention"),
    )


def _with_widths(talk: Talk) -> Iterator[Point]:
    """Yield the points on the terms, those of tensors with their widths."""
    parts = {NAMES[part.name]: part for part in run_parts(talk.scenario)}
    master = parts.get("master-copy")
    for point in points("terms", _term_rows(talk)):
        part = parts.get(point.name)
        if part is None:
            yield point
            continue
        states = point.name in {"moments", "momentum"}
        yield replace(
            point,
            width=Width(
                size=part.each,
                tensors=2 if point.name == "moments" else 1,
                also=(part.each + master.each,) if states and master else (),
            ),
        )


def _term_rows(talk: Talk) -> Iterator[Row]:
    x = talk.scenario
    parts = run_parts(x)
    for part in parts:
        said = f"{sentence(part.name)}: {bytes_of(part.each)} a parameter."
        yield NAMES[part.name], said, "junior"
    if not PRECISIONS[x.recipe.precision].master:
        yield "no-master", "No fp32 master copy in this recipe: nothing more to add.", "mid"
    parameters = number(parameters_of(x.architecture))
    yield "parameter-count", f"{parameters} parameters, embedding and head among them.", "mid"
    yield (
        "convention",
        (
            "Which convention: others count 12, 16, 18 or 20 bytes, by the width of gradients "
            "and of what is kept beside them."
        ),
        "senior",
    )


def _each(talk: Talk) -> Question:
    x = talk.scenario
    recipe = (x.recipe.precision, x.recipe.optimizer)
    draft = bytes_per_parameter.of_parts(
        x.model.title, recipe, "model states", run_parts(x), fsdp=x.parallel.zero == 3
    )
    return talk.number(
        "bytes-per-parameter",
        "A",
        draft,
        says="How many bytes of states is that for each parameter, nothing sharded?",
        stronger=(
            f"{total_said(run_parts(x))}, and what the number leaves out: activations, casts and "
            "temporaries."
        ),
        practises=("bytes-per-parameter", "which-convention"),
    )


def draft_of(x: Scenario) -> Draft:
    """Return the question for the states on each GPU of a run."""
    case = model_states.Case(
        model=models()[x.model.name],
        recipe=(x.recipe.precision, x.recipe.optimizer),
        gpu=x.hardware.gpu,
        stage=x.parallel.zero,
        ranks=x.parallel.data,
    )
    if x.parallel.data == 1:
        return model_states.whole(case, batch=x.workload.micro_batch)
    return model_states.on_each_gpu(case)


def _states(talk: Talk) -> Question:
    x = talk.scenario
    where = "on the GPU" if x.hardware.gpus == 1 else "on each GPU"
    return talk.number(
        "states",
        "A",
        draft_of(x),
        says=f"So how much do the model states take {where}, in GB?",
        reuses=tuple(_from_each(x)),
        moves=tuple(_moves_with_each(x)),
        stronger=(
            f"{total_said(run_parts(x), x.parallel.zero, x.parallel.data)} a parameter, times "
            "the billions of parameters: the GB in one line, before any detail."
        ),
        practises=("zero-states", "model-states"),
    )


def _from_each(x: Scenario) -> Iterator[Reuse]:
    """Yield the way from the bytes of a parameter, where all of them are shared or none are."""
    if x.parallel.zero not in {0, 3}:
        return
    ranks = x.parallel.data if x.parallel.zero == 3 else 1
    shared = f", over {ranks} GPUs" if ranks > 1 else ""
    yield Reuse(
        question="bytes-per-parameter",
        times=Fraction(x.architecture.parameters, ranks),
        says=f"the bytes of one, times {number(x.architecture.parameters)} parameters{shared}",
    )


def _moves_with_each(x: Scenario) -> Iterator[Move]:
    """Yield how the states move with the bytes of a parameter where a part of them is shared.

    What a candidate has too much or too little of is whole on each GPU, or is shared.
    """
    if x.parallel.zero in {1, 2}:
        for ranks in (1, x.parallel.data):
            times = Fraction(x.architecture.parameters, ranks)
            yield Move(question="bytes-per-parameter", times=times)


def _exclusions(talk: Talk) -> Question:
    shared = talk.scenario.parallel.zero > 0
    says = "What does that number not contain?"
    if shared:
        stage = STAGES[talk.scenario.parallel.zero]
        says = f"What is not divided by the GPUs under {stage}, and what is not in that number?"
    return Question(
        key="not-sharded" if shared else "not-included",
        aspect="exclusions",
        says=says,
        scenario=talk.scenario,
        points=points("exclusions", _excluded(talk)),
        stronger=(
            "Says what stays whole on each GPU, and where a whole copy comes back for a moment: "
            "gathered layers, buckets, the save."
        ),
        practises=("never-sharded", "left-out"),
    )


def _excluded(talk: Talk) -> Iterator[Row]:
    x = talk.scenario
    parts, parallel = run_parts(x), x.parallel
    each = "one GPU's own tokens" if parallel.data > 1 else "this micro-batch"
    yield (
        "activations-out",
        (
            f"Activations: they belong to {each}, {number(x.tokens)} tokens, and no stage divides "
            "them."
        ),
        "junior",
    )
    yield (
        "logits-out",
        f"Logits and loss: {number(x.tokens)} × {number(x.architecture.vocab)} entries, whole.",
        "junior",
    )
    for part in parts if parallel.zero else ():
        if part.stage > parallel.zero:
            said = f"{sentence(part.name)}: whole, {bytes_of(part.each)} of every parameter."
            yield f"{part.name}-whole", said, "junior"
    yield (
        "temporaries-out",
        "Temporaries: a layer's working set and the optimizer's own tensors.",
        "mid",
    )
    if parallel.zero == 3:
        ends = number(ends_of(x.architecture))
        said = f"Gathered layers: whole, with the {ends} parameters of embedding and head."
        yield "gathered-out", said, "mid"
    elif parallel.data > 1:
        yield "buckets-out", "Buckets of communication: their size does not depend on N.", "mid"
    yield "context-out", "The CUDA context and libraries: outside of all tensors.", "mid"
    yield "allocator-out", "What the allocator holds beyond the tensors: pieces, cache.", "senior"


def _on_others(talk: Talk) -> Question:
    other = talk.runs.ranks
    x, y = talk.scenario, other.run.scenario
    before, after = sized(x), sized(y)
    return talk.number(
        f"states-on-{y.parallel.data}",
        "A",
        draft_of(y),
        says=f"{other.said}. The states on each, in GB?",
        scenario=y,
        changes=other.changes,
        reuses=(_reuse(x, y, before, after),),
        moves=(Move(question="states", times=Fraction(after, before)),),
        stronger="Changes the sharded part of the line alone and leaves the rest as it stands.",
        practises=("zero-table", "zero-states"),
    )


def _stepped(talk: Talk, other: Followed) -> Question:
    x, y = talk.scenario, other.run.scenario
    before, after = sized(x), sized(y)
    more = "more" if after > before else "less"
    kept = f"{total_said(run_parts(y), y.parallel.zero, y.parallel.data)} a parameter"
    return talk.number(
        f"states-{other.key.removeprefix('peak-')}",
        "A",
        draft_of(y),
        says=f"{other.said}, all else as at first: the states on each GPU, in GB?",
        scenario=y,
        changes=other.changes,
        reuses=(
            Reuse(
                question="states",
                plus=Fraction(after - before),
                says=f"{kept}: {gb(abs(after - before))} {more} than the line before",
            ),
        ),
        moves=(Move(question="states", times=Fraction(after, before)),),
        stronger="Changes what the optimizer keeps alone, and says what else it changes.",
        practises=("bytes-per-parameter", "zero-states"),
    )


def _reuse(x: Scenario, y: Scenario, before: int, after: int) -> Reuse:
    old, new, stage = x.parallel.data, y.parallel.data, x.parallel.zero
    if stage == 3:
        return Reuse(
            question="states",
            times=Fraction(old, new),
            says=f"everything is sharded: {old}/{new} of the line before",
        )
    if stage == 0:
        return Reuse(question="states", says="plain data parallel shares nothing: the same line")
    split = [part for part in run_parts(x) if part.stage <= stage]
    each, names = short(each_of(tuple(split))), listed([part.name for part in split])
    return Reuse(
        question="states",
        plus=Fraction(after - before),
        says=f"{names} go from {each}/{old} to {each}/{new} bytes a parameter, the rest stays",
    )
