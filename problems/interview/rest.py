"""Everything else: logits and loss, temporaries, gathered layers, the allocator."""

from collections.abc import Iterator
from fractions import Fraction

from engine.ledger import Category, Ledger, Phase
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from problems.amounts import in_billions
from problems.bank.everything_else.logits import spike
from problems.draft import Draft
from problems.interview.posed import Posed, Row, Talk, points
from problems.interview.runs import Followed
from problems.interview.script import Question, Reuse
from problems.on_paper import ends_of, parameters_of
from problems.one_size import one_size
from problems.wording import bare_gb, gb, number, paper, short
from problems.wrong_sizes import wrong_size


def posed(talk: Talk) -> Iterator[Posed]:
    """Yield the questions on everything else."""
    yield Posed(question=_terms(talk), takes=2, turn=6)
    yield Posed(question=_logits(talk), takes=1)
    yield Posed(question=_logits_of(talk, talk.runs.length), takes=1, turn=17)
    if talk.runs.twice is not None:
        yield Posed(question=_logits_of(talk, talk.runs.twice), takes=1, turn=21)
    if talk.scenario.parallel.zero == 3 and talk.level != "junior":
        yield Posed(question=_gathered(talk), takes=2, turn=10)
    turn = 1 if talk.level == "senior" else 3
    yield Posed(question=_outside(talk), takes=2, turn=turn, levels=("mid", "senior"))


def _terms(talk: Talk) -> Question:
    return Question(
        key="rest-terms",
        aspect="terms",
        says="Besides states and saved activations: what else takes memory in a step?",
        scenario=talk.scenario,
        points=points("terms", _rows(talk)),
        stronger=(
            "Gives each its size and its moment, and rejects those that are too small to matter."
        ),
        practises=("logits-spike", "loss-ledger", "communication-buckets"),
    )


def _rows(talk: Talk) -> Iterator[Row]:
    x, book = talk.scenario, talk.runs.base.ledger
    vocab = number(x.architecture.vocab)
    yield "logits", f"Logits and loss: {number(x.tokens)} tokens × {vocab} words.", "junior"
    yield (
        "loss-copies",
        "Of the logits more than one copy: fp32 beside them, and gradients.",
        "mid",
    )
    layer = book.total(Category.TEMPORARY, phase=Phase.BACKWARD_FIRST)
    yield "working-set", f"The working set of a layer's backward: about {gb(layer)}.", "mid"
    yield "optimizer-temporaries", _stepping(book), "mid"
    if x.parallel.data > 1:
        name, said = _exchanged(x)
        yield name, said, "mid"
    yield "cuda-context", f"The CUDA context and libraries: {_context(book)}.", "junior"
    yield "fragmentation", f"The allocator's pieces: up to {_slack(book)} of the tensors.", "mid"


def _stepping(book: Ledger) -> str:
    """Return what the optimizer's step takes for itself, and for gradients that it makes ready."""
    sizes = {line.name: size for line, size in zip(book.lines, book.sizes, strict=True)}
    own, before = sizes.get("optimizer temporaries", 0), sizes.get("before the step", 0)
    said = f"The optimizer's own temporaries: {gb(own) if own else 'none to speak of'}"
    if before:
        return f"{said}; beside them {gb(before)} of norm and flat copies of the gradients."
    if sizes.get("fp32 copies of the gradients"):
        return f"{said}; beside them the gradients once more, in fp32."
    return f"{said}."


def _exchanged(x: Scenario) -> tuple[str, str]:
    """Return what ranks exchange through, as a point and in words."""
    if x.parallel.zero == 3:
        return "gathered-layers", f"Layers gathered, two of {x.architecture.layers} at a time."
    return "buckets", "Buckets of communication, which stay whatever the number of GPUs."


def _slack(book: Ledger) -> str:
    return f"{short(Fraction(round(100 * book.total(Category.ALLOCATOR_SLACK) / book.peak)))}%"


def _context(book: Ledger) -> str:
    return gb(book.total(Category.CUDA_CONTEXT))


def _logits(talk: Talk) -> Question:
    x = talk.scenario
    return talk.number(
        "logits",
        "C",
        spike(x),
        says=(
            f"The vocabulary has {number(x.architecture.vocab)} words. What do logits and loss "
            "take at their worst moment, in GB?"
        ),
        stronger=(
            f"12 bytes × {number(x.tokens)} tokens × {number(x.architecture.vocab)} words, and "
            "that a fused or chunked loss takes most of it away."
        ),
        practises=("logits-spike", "logits-size", "loss-ledger"),
    )


def _logits_of(talk: Talk, other: Followed) -> Question:
    x, y = talk.scenario, other.run.scenario
    times, at = Fraction(y.tokens, x.tokens), "at" if other is talk.runs.length else "with"
    return talk.number(
        f"logits-{other.key.removeprefix('peak-')}",
        "C",
        spike(y),
        says=f"And {at} {other.changes}: logits and loss, in GB?",
        scenario=y,
        changes=other.changes,
        reuses=(
            Reuse(
                question="logits", times=times, says=f"linear in the tokens: {times} × the line"
            ),
        ),
        stronger="Scales the line, and says which of it a fused loss would take away.",
        practises=("logits-spike", "logits-formula"),
    )


def _gathered(talk: Talk) -> Question:
    return talk.number(
        "gathered",
        "C",
        gathered(talk),
        says=(
            "The layers are gathered to be used. How much is whole on each GPU at once, with "
            "embedding and head and two layers gathered, in GB?"
        ),
        stronger=(
            "Says that it does not fall with more GPUs, and that one layer is there because the "
            "next one is fetched ahead."
        ),
        practises=("never-sharded", "communication-buckets", "sharding-throughput"),
    )


def gathered(talk: Talk) -> Draft:
    """Return the question for what FSDP2 has gathered when the backward pass begins."""
    x = talk.scenario
    each, parameters = PRECISIONS[x.recipe.precision].compute, parameters_of(x.architecture)
    ends = ends_of(x.architecture)
    layer = (parameters - ends) // x.architecture.layers
    size = each * (ends + 2 * layer)
    return one_size(
        prompt=talk.runs.base.prompt("interview", ask_micro_batch=False, asks=_asked(each)),
        size=size,
        hints=(
            "What is gathered is whole on each GPU: how many parameters are that?",
            f"Embedding, head and final norm have {number(ends)} parameters.",
            f"A layer has {number(layer)} parameters of {each} bytes; two of them are there.",
        ),
        on_paper=(
            f"ends: {each} × {in_billions(ends, each)} = {paper(each * ends)}",
            f"two layers: 2 × {each} × {in_billions(layer, 2 * each)} = {paper(2 * each * layer)}",
            f"{bare_gb(each * ends)} + {bare_gb(2 * each * layer)} = {paper(size)}",
        ),
        exact=(f"{number(ends + 2 * layer)} parameters of {each} bytes",),
        mistakes=(
            wrong_size(
                2 * each * layer,
                size,
                "head forgotten",
                "is the two layers alone; embedding and head are gathered too, {off} more.",
            ),
            wrong_size(
                each * parameters,
                size,
                "all layers counted",
                f"gathers all {x.architecture.layers} layers; two are there, {{off}} less.",
            ),
            wrong_size(
                each * (ends + layer),
                size,
                "one layer for all",
                "has one layer; the next is gathered ahead, {off} more.",
            ),
            wrong_size(
                Fraction(size, each),
                size,
                "elements taken for bytes",
                f"counts parameters; each is gathered in {each} bytes, {{off}} more.",
            ),
            wrong_size(
                Fraction(size, x.parallel.data),
                size,
                "divided by all GPUs",
                f"divides by {x.parallel.data}; what is gathered is whole, {{off}} more.",
            ),
        ),
    )


def _asked(each: int) -> str:
    return (
        f"When the backward pass begins, embedding, head and two layers are gathered, {each} "
        "bytes a parameter. How much do they take on each GPU?"
    )


def _outside(talk: Talk) -> Question:
    return Question(
        key="beyond-allocated",
        aspect="exclusions",
        says=(
            "Your sum is of tensors. What of nvidia-smi's figure, or of the card, is not in it?"
        ),
        scenario=talk.scenario,
        points=points("exclusions", _outside_rows(talk)),
        stronger=(
            "Keeps allocated, reserved and nvidia-smi apart, gives a range for what lies between, "
            "and plans with less than the card."
        ),
        practises=("three-numbers", "units", "oom-cause"),
    )


def _outside_rows(talk: Talk) -> Iterator[Row]:
    x, book = talk.scenario, talk.runs.base.ledger
    yield "reserved", f"Reserved, not allocated: up to {_slack(book)} more.", "mid"
    yield "fragmentation", "Fragmentation: free pieces, each too small for a request.", "mid"
    yield "cuda-context", f"Context and communicators: {_context(book)} beside PyTorch.", "mid"
    memory = x.hardware.gpu.memory
    yield (
        "units",
        f"GB and GiB: the card's {number(x.hardware.gpu.memory_mib)} MiB are {gb(memory)}.",
        "mid",
    )
    yield (
        "reserve",
        f"A reserve: plan with about 90% of the card, {gb(memory * 9 // 10)}.",
        "mid",
    )
    if x.parallel.data > 1:
        yield "communicators", "Communicators of the ranks, a few hundred MB each.", "senior"
    yield "other-processes", "Other processes on the card, and a display.", "senior"
