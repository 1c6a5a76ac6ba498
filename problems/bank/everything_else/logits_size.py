"""Topic C, everything else: one tensor of logits."""

from collections.abc import Iterator
from fractions import Fraction

from engine.catalog import CatalogModel
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

SEQUENCES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
BATCHES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
# Rows to which stacks pad a vocabulary; 1 leaves it as it is.
MULTIPLES = (1, 1, 64, 128, 256)
MOST_TOKENS = 2**19
BYTES = {"16-bit": 2, "fp32": 4}
BESIDE = {"16-bit": "fp32", "fp32": "16-bit"}


@kind(
    name="logits-size",
    topic="C",
    level="junior",
    title="Size of the logits",
    sources=(
        "stas00/ml-engineering training/performance/README.md",
        "huggingface/trl#6858",
    ),
)
def logits_size(draw: Draw) -> Draft | None:
    """Ask for one tensor of logits of all tokens, in one width."""
    model, word, batch, sequence, multiple = draw.unlike(
        lambda: (
            scenarios.any_model(draw),
            draw.choice(tuple(BYTES)),
            draw.choice(BATCHES),
            draw.choice(SEQUENCES),
            draw.choice(MULTIPLES),
        ),
        lambda figures: (figures[0].name, *figures[1:4]),
    )
    vocab = -(-model.architecture.vocab // multiple) * multiple
    if sequence > model.max_sequence or batch * sequence > MOST_TOKENS:
        return None
    size, product = batch * sequence * vocab * BYTES[word], f"{batch} × {number(sequence)}"
    return one_size(
        prompt=(
            f"{model.title}: h = {number(model.architecture.hidden)}, vocabulary "
            f"V = {number(vocab)}{_padded(model, vocab)}. The head computes the logits of all "
            f"tokens of a micro-batch of b = {batch} × s = {number(sequence)}. A pull request "
            f"says how large the {word} logits are; you check it.\nHow much does this tensor take?"
        ),
        size=size,
        hints=(
            "Logits have an entry for each token and each word of the vocabulary.",
            f"There are {product} tokens and {number(vocab)} entries for each.",
            f"A {word} entry takes {BYTES[word]} bytes; it is not the {BESIDE[word]} copy.",
        ),
        on_paper=(f"{product} × {number(vocab)} × {BYTES[word]} bytes = {paper(size)}",),
        exact=(
            f"{number(batch * sequence * vocab)} entries of {BYTES[word]} bytes",
            f"the {BESIDE[word]} copy beside it takes {_other(size, word)}",
        ),
        mistakes=_mistakes(model, size, (batch, sequence), word),
    )


def _padded(model: CatalogModel, vocab: int) -> str:
    real = model.architecture.vocab
    return f" (padded, from {number(real)})" if vocab > real else ""


def _other(size: int, word: str) -> str:
    return gb(size * BYTES[BESIDE[word]] // BYTES[word])


def _mistakes(
    model: CatalogModel, size: int, tokens: tuple[int, int], word: str
) -> Iterator[Mistake]:
    batch, sequence = tokens
    other = BESIDE[word]
    sign = "less" if BYTES[other] > BYTES[word] else "more"
    why = f"is the {other} tensor; the {word} one takes {{off}} {sign}."
    name = "fp32 logits alone" if other == "fp32" else "16-bit logits alone"
    yield wrong_size(Fraction(size * BYTES[other], BYTES[word]), size, name, why)
    why = f"counts elements; each has {BYTES[word]} bytes, {{off}} more."
    yield wrong_size(Fraction(size, BYTES[word]), size, "elements taken for bytes", why)
    why = f"is one sequence; the micro-batch has {batch}, {{off}} more."
    yield wrong_size(Fraction(size, batch), size, "micro-batch forgotten", why)
    why = f"is one token of each sequence, as in generation; training scores all {sequence:,}."
    yield wrong_size(Fraction(size, sequence), size, "last token only", why)
    hidden = batch * sequence * model.architecture.hidden * BYTES[word]
    why = "has the hidden size for the vocabulary, {off} less than the logits."
    yield wrong_size(hidden, size, "hidden size for the vocabulary", why)
