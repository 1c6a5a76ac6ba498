"""Published answers about logits, scores and activations that went wrong."""

from problems.draw import Draw
from problems.published.case import Make, Published
from problems.wording import number
from problems.worked import Line, Worked, times

VOCABULARIES = (30_522, 32_000, 50_257, 100_352, 128_256, 151_665, 151_936, 152_064, 248_320)
BF16_SAID = (
    (
        "huggingface/trl#6858",
        (
            "16 GB of bf16 was said for 16,384 tokens and 248,320 entries; that is the fp32 copy, "
            "and bf16 is 8.1 GB"
        ),
    ),
    (
        "huggingface/trl#3678",
        "310 MB of bf16 was said for 2 × 256 tokens and 151,665 entries; bf16 is 155 MB",
    ),
)
LENGTHS = (256, 384, 512, 768, 2**10, 1536, 2048, 3072, 4096, 8192, 16384)
WIDTHS = (2048, 2560, 3072, 3584, 4096, 5120, 6144, 8192)
LAYERS = (24, 28, 32, 36, 40, 48, 60, 64, 80)
BYTES = "How many bytes has an entry?"
MOST_TOKENS = 2**17


def _tokens(rows: int, length: int, of: str) -> Line:
    return Line(
        key="tokens",
        says=f"tokens: {number(rows)} {of} × {number(length)}",
        of=lambda _: rows * length,
        form="count",
    )


def _entries(vocab: int) -> Line:
    return Line(
        key="entries",
        says=f"entries of the logits: {{tokens}} × {number(vocab)}",
        of=times("tokens", vocab),
        form="count",
    )


def _sized(key: str, what: str, each: int, of: str = "entries") -> Line:
    return Line(key=key, says=f"{what}: {{{of}}} × {each} bytes", of=times(of, each))


def fp32_said_of_bf16(draw: Draw) -> Published | None:
    """16 GB of bf16 logits that are 8 GB."""
    rows, length, vocab = draw.between(2, 32), draw.choice(LENGTHS), draw.choice(VOCABULARIES)
    if rows * length > MOST_TOKENS:
        return None
    counts = (_tokens(rows, length, "sequences"), _entries(vocab))
    bf16, copy = _sized("bf16", "logits in bf16", 2), _sized("fp32", "their fp32 copy", 4)
    total = Line(
        key="total",
        says="both at once: {bf16} + {fp32}",
        of=lambda values: values["bf16"] + values["fp32"],
    )
    source, told = draw.choice(BF16_SAID)
    return Published(
        source=source,
        about=f"The head makes bf16 logits of {rows} sequences of {number(length)} tokens over a "
        f"vocabulary of {number(vocab)} entries, and the loss casts them to fp32.",
        worked=Worked(lines=(*counts, bf16, copy, total)),
        wrong=bf16.wrong(
            "logits in 32 bits",
            "logits in bf16: {entries} × 4 bytes",
            times("entries", 4),
            why="is the size of the fp32 copy; bf16 has two bytes an entry, {off} less.",
            nudge=BYTES,
        ),
        told=told,
    )


def elements_said_in_gb(draw: Draw) -> Published:
    """14 GB of stored logits that are 58 GiB."""
    rows, length = draw.between(100, 4000), draw.choice(LENGTHS[:8])
    vocab = draw.choice(VOCABULARIES)
    size = _sized("size", "fp32 logits", 4)
    gib = Line(key="gib", says="in GiB: {size}", of=times("size", 1), form="GiB")
    return Published(
        source="huggingface/transformers#12878",
        about=f"An evaluation keeps the fp32 logits of {number(rows)} examples of "
        f"{number(length)} tokens over a vocabulary of {number(vocab)} entries on the GPU.",
        worked=Worked(lines=(_tokens(rows, length, "examples"), _entries(vocab), size, gib)),
        wrong=size.wrong(
            "elements taken for bytes",
            "fp32 logits: {entries}",
            times("entries", 1),
            why="is a count of entries; each has four bytes, {off} more.",
            nudge=BYTES,
        ),
        told="more than 14 GB was said for 1,000 × 512 tokens and 30,522 entries; 14.6 Gi is the "
        "count, and the size 58 GiB",
    )


def heads_in_one_matrix(draw: Draw) -> Published:
    """48 GB for one matrix of scores that is 6 GiB."""
    length, heads = 128 * draw.between(32, 480), draw.choice((8, 12, 16, 24, 32))
    pairs = Line(
        key="pairs",
        says=f"pairs of tokens: {number(length)} × {number(length)}",
        of=lambda _: length * length,
        form="count",
    )
    one = _sized("one", "one head's scores in fp32", 4, "pairs")
    every = Line(key="all", says=f"{heads} heads: {heads} × {{one}}", of=times("one", heads))
    return Published(
        source="pytorch/pytorch#133206",
        about=f"Eager attention over one sequence of {number(length)} tokens with {heads} heads "
        "keeps its scores in fp32.",
        worked=Worked(lines=(pairs, one, every)),
        wrong=one.wrong(
            "heads counted twice",
            "one head's scores in fp32, {pairs} entries",
            times("pairs", 2 * heads),
            why=f"has {heads} heads in 16 bits; one in fp32 has four bytes a pair, {{off}} less.",
            nudge="Of how many heads are these the scores, and how wide are they?",
        ),
        told="48 GB was said for one fp32 matrix of 40,320 × 40,320, which is 6.1 GiB; 16 heads "
        "of 2 bytes make 48 GiB",
    )


def four_checkpoints(draw: Draw) -> Published:
    """20.9 TB of checkpoints that are 15.7 TB."""
    h, layers, kept = draw.choice(WIDTHS), draw.choice(LAYERS), draw.choice((2, 3, 4))
    millions = draw.between(1, 16)
    tensor = Line(
        key="tensor",
        says=f"one checkpoint: {millions}M tokens × {number(h)} × 2 bytes",
        of=lambda _: millions * 10**6 * h * 2,
    )
    every = Line(key="all", says=f"all layers: {layers} × {{layer}}", of=times("layer", layers))
    layer = Line(key="layer", says=f"a layer: {kept} × {{tensor}}", of=times("tensor", kept))
    return Published(
        source="jax-ml/scaling-book, applied-training.md",
        about=f"A step over {millions} million tokens keeps {kept} checkpoints of width "
        f"{number(h)} in each of {layers} layers, in bf16, on all devices together.",
        worked=Worked(lines=(tensor, layer, every)),
        wrong=layer.wrong(
            "a checkpoint too many",
            f"a layer: {kept + 1} × {{tensor}}",
            times("tensor", kept + 1),
            why=f"has {kept + 1} checkpoints for a layer that keeps {kept}, {{off}} less.",
            nudge="How many checkpoints does a layer keep?",
        ),
        told="20.9 TB was printed for three checkpoints a layer of 8,192 in 80 layers at 4M "
        "tokens; three are 15.7 TB, four 21.0 TB",
    )


def _saved(times_h: int, h: int) -> Line:
    return Line(
        key="each",
        says=f"a layer and token: {times_h} × {number(h)}",
        of=lambda _: times_h * h,
        form="each",
        noun="bytes",
    )


def inputs_for_activations(draw: Draw) -> Published | None:
    """Batch × length × width × layers × 2 bytes for all activations."""
    h, layers = draw.choice(WIDTHS), draw.choice(LAYERS)
    rows, length = draw.between(2, 48), draw.choice(LENGTHS)
    if rows * length > MOST_TOKENS:
        return None
    each = _saved(34, h)
    layer = Line(
        key="layer",
        says="a layer: {tokens} tokens × {each} bytes",
        of=lambda values: values["tokens"] * values["each"],
    )
    every = Line(key="all", says=f"all layers: {layers} × {{layer}}", of=times("layer", layers))
    return Published(
        source="notes.tczhong.com/notes/x0zq5fhec0rw4x81c0q5cg4",
        about=f"{layers} GPT blocks of width {number(h)} run {rows} sequences of {number(length)} "
        "tokens with dropout and fused attention, and nothing is recomputed: each saves 34 bytes "
        "for each token and unit of width (arXiv 2205.05198).",
        worked=Worked(lines=(_tokens(rows, length, "sequences"), each, layer, every)),
        wrong=each.wrong(
            "layer inputs only",
            _saved(2, h).says,
            _saved(2, h).of,
            why="is a layer's input in 16 bits; a block saves {off} more.",
            nudge="What does a block save besides its input?",
        ),
        others=(
            each.wrong(
                "elements taken for bytes",
                f"a layer and token: {number(h)}",
                lambda _: h,
                why="is the width, without the bytes that are saved of it, {off} more.",
                nudge="What does a block save besides its input?",
            ),
        ),
        told="2.1 GB came of 2 bytes for batch 4, 2,048 tokens, width 4,096, 32 layers; 34 "
        "make 36.5 GB",
    )


CASES: tuple[Make, ...] = (
    fp32_said_of_bf16,
    elements_said_in_gb,
    heads_in_one_matrix,
    four_checkpoints,
    inputs_for_activations,
)
