"""Topic E, levers: what skipping the synchronisation of gradients costs."""

from collections.abc import Iterator
from fractions import Fraction

from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.wording import billions, gb, paper, rounded
from problems.wrong_sizes import wrong_size

RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
STEPS = (2, 4, 8, 16, 32)
BYTES = {"16-bit": 2, "fp32": 4}


@kind_at_levels(
    name="unsynchronised-gradients",
    topic="E",
    levels=("mid", "senior"),
    title="Gradients while synchronisation is skipped",
    sources=("huggingface/accelerate#2531", "pytorch/pytorch#72185", "young-geng/EasyLM#36"),
)
def unsynchronised_gradients(draw: Draw, level: Level) -> Draft:
    """Ask for the gradients of a rank under no_sync, or for what they are more than shards."""
    title, parameters = scenarios.any_parameters(draw)
    ranks, steps, word = draw.choice(RANKS), draw.choice(STEPS), draw.choice(tuple(BYTES))
    each, count = BYTES[word], rounded(parameters)
    shard = each * -(-parameters // ranks)
    more = level == "senior"
    size = each * parameters - (shard if more else 0)
    asked = (
        "By how much are the gradients of a GPU larger than with synchronisation after every "
        "micro-batch?"
        if more
        else "How much do the gradients take on each GPU before the last micro-batch?"
    )
    return one_size(
        prompt=(
            f"FSDP shards {title} (P = {parameters:,} parameters) over {ranks} GPUs. Gradients "
            f"are {word} and accumulated over {steps} micro-batches, and to save traffic "
            f"synchronisation is skipped (no_sync) in all but the last of them.\n{asked}"
        ),
        size=size,
        hints=(
            "What turns the gradients of a GPU into its shard, and when does that happen here?",
            "Without a reduce-scatter each GPU holds the gradient of every parameter.",
            f"Whole gradients are {each} × {billions(count)} billion bytes"
            + (f"; a shard is a part in {ranks} of that." if more else "."),
        ),
        on_paper=_on_paper(count, each, ranks, more=more),
        exact=(
            f"whole: {gb(each * parameters)}",
            f"a shard: {gb(shard)}, which is all that a rank has with synchronisation",
            "activations are those of one micro-batch, with and without",
        ),
        mistakes=_mistakes(size, each * parameters, shard, steps),
    )


def _on_paper(count: int, each: int, ranks: int, *, more: bool) -> Iterator[str]:
    whole = each * count
    yield f"whole gradients: {billions(count)} billion × {each} = {paper(whole, digits=4)}"
    if more:
        rest = Fraction(whole * (ranks - 1), ranks)
        yield f"of that a shard is there anyway: × {ranks - 1}/{ranks} = {paper(rest, digits=4)}"


def _mistakes(size: int, whole: int, shard: int, steps: int) -> Iterator[Mistake]:
    why = "is a rank's shard; without synchronisation nothing is scattered; that differs by {off}."
    yield wrong_size(shard, size, "shard taken for the whole", why)
    if size != whole:
        why = "is all of the gradients; {off} of it, the shard, is there anyway."
        yield wrong_size(whole, size, "what it takes, not what it adds", why)
    else:
        why = "is what is more than the shard, {off} less than the gradients take."
        yield wrong_size(whole - shard, size, "what it adds, not what it takes", why)
    why = f"has one set of gradients for each of {steps} micro-batches; they are added in place."
    yield wrong_size(steps * size, size, "all accumulated micro-batches counted", why)
    why = "has half of the bytes of an element, {off} too few."
    yield wrong_size(Fraction(size, 2), size, "half of what it takes", why)
    why = "has twice the bytes of an element, {off} too many."
    yield wrong_size(2 * size, size, "twice of what it takes", why)
