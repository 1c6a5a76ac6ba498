"""Topic B, activations: the scores that eager attention writes out."""

from collections.abc import Iterator
from fractions import Fraction

from engine.scenario import Model
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

SEQUENCES = (512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384)
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16)
WIDTHS = {"16-bit": 2, "fp32": 4}
LARGEST = 4 * 10**12  # bytes, beyond which nobody would write the scores out


@kind_at_levels(
    name="score-matrix",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="Scores that eager attention writes out",
    sources=("arXiv 2205.05198 section 4.1", "stanford-cs336/assignment2-systems"),
)
def score_matrix(draw: Draw, level: Level) -> Draft | None:
    """Ask for one tensor of scores, for all layers' saved ones, or by how much a change grows."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    a = model.architecture
    sequence, batch = draw.choice(SEQUENCES), draw.choice(BATCHES)
    word = draw.choice(tuple(WIDTHS))
    tensors = 1 if level == "junior" else draw.choice((2, 3))
    layers = a.layers if level != "junior" else 1
    degree = draw.choice((2, 4, 8)) if level == "senior" and not a.heads % 8 else 1
    one = scores(batch, a.heads, sequence, WIDTHS[word])
    size = one * tensors * layers // degree
    if sequence > (a.positions or model.max_sequence) or not 10**7 < size < LARGEST:
        return None
    return one_size(
        prompt=_prompt(model, (batch, sequence), word, tensors, layers, degree),
        size=size,
        hints=(
            "A score is a number for each pair of tokens, in each head of each sequence.",
            (
                f"One such tensor has b × a × s × s = {batch} × {a.heads} × {number(sequence)}² "
                "elements."
            ),
            _last_hint(word, tensors, layers, degree),
        ),
        on_paper=_on_paper(one, size, (batch, a.heads, sequence), word, (tensors, layers, degree)),
        exact=(
            f"one tensor: {gb(one)}",
            "the size of a head does not enter, the length does twice",
        ),
        mistakes=_mistakes(model, size, (batch, sequence), word, layers, degree),
    )


def scores(batch: int, heads: int, sequence: int, each: int) -> int:
    """Return the bytes of one tensor of scores: one of `each` bytes for each pair of tokens."""
    return batch * heads * sequence**2 * each


def _prompt(
    model: Model, tokens: tuple[int, int], word: str, tensors: int, layers: int, degree: int
) -> str:
    a = model.architecture
    what = (
        "How much does one tensor of scores take, of one layer?"
        if tensors == layers == 1
        else f"Eager attention keeps {tensors} {word} tensors of this shape in each layer for the "
        "backward pass (scores, probabilities and what dropout makes of them, as far as they are "
        "kept). How much do they take in all layers together"
        f"{', on each GPU' if degree > 1 else ''}?"
    )
    split = (
        f" Tensor parallelism over {degree} GPUs gives each of them whole heads."
        if degree > 1
        else ""
    )
    return (
        f"{model.title}: L = {a.layers} layers, h = {number(a.hidden)}, a = {a.heads} heads of "
        f"d = {a.head_dim}. Micro-batch b = {tokens[0]} × s = {number(tokens[1])} tokens, eager "
        f"attention without recomputation, {word} scores.{split}\n{what}"
    )


def _last_hint(word: str, tensors: int, layers: int, degree: int) -> str:
    said = f"A {word} element takes {WIDTHS[word]} bytes"
    if layers > 1:
        said += f", there are {tensors} tensors in each of {layers} layers"
    if degree > 1:
        said += f", and a GPU has one head in {degree}"
    return f"{said}."


def _on_paper(
    one: int, size: int, shape: tuple[int, int, int], word: str, times: tuple[int, int, int]
) -> Iterator[str]:
    batch, heads, sequence = shape
    tensors, layers, degree = times
    product = f"{batch} × {heads} × {number(sequence)}² × {WIDTHS[word]} bytes"
    yield f"one tensor: {product} = {paper(one)}"
    if layers > 1:
        divided = f" / {degree}" if degree > 1 else ""
        yield f"{tensors} × {layers} layers × {paper(one)}{divided} = {paper(size)}"


def _mistakes(
    model: Model, size: int, tokens: tuple[int, int], word: str, layers: int, degree: int
) -> Iterator[Mistake]:
    a, (batch, sequence) = model.architecture, tokens
    why = f"has one head; {a.heads} of them have scores of their own, {{off}} more."
    yield wrong_size(Fraction(size * degree, a.heads), size, "heads forgotten", why)
    why = "is linear in the length; every pair of tokens has a score, {off} more."
    yield wrong_size(Fraction(size, sequence), size, "square of the sequence forgotten", why)
    why = f"has h = {number(a.hidden)} for the second length; scores are s × s: {{off}} off."
    yield wrong_size(
        Fraction(size * a.hidden, sequence * a.heads), size, "hidden size for the length", why
    )
    why = f"is one sequence; the micro-batch has {batch}, {{off}} more."
    yield wrong_size(Fraction(size, batch), size, "micro-batch forgotten", why)
    if layers > 1:
        why = f"is one layer; {layers} layers keep theirs, {{off}} more."
        yield wrong_size(Fraction(size, layers), size, "one layer for all", why)
    if degree > 1:
        why = f"has all heads; a GPU has one in {degree}, {{off}} less."
        yield wrong_size(size * degree, size, "not divided by tensor parallelism", why)
    if word == "fp32":
        why = "has 2 bytes an element; fp32 scores take 4, {off} more."
        yield wrong_size(Fraction(size, 2), size, "scores in 16 bits", why)
    else:
        why = "has 4 bytes an element; 16-bit scores take 2, {off} less."
        yield wrong_size(2 * size, size, "scores in 32 bits", why)
