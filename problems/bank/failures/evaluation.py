"""Topic H, real failures: evaluation, which keeps the logits of everything it has seen."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel
from engine.units import GB, TB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

BATCHES = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (64, 77, 128, 256, 384, 512, 1024, 2048)
EXAMPLES = (100, 200, 500, 1000, 2000, 5000, 20_000, 100_000, 200_000)
LEAST, MOST = GB, 5 * TB
WIDTHS = {4: "fp32", 2: "bf16"}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Logits that are collected on the GPU.

    Args:
        model: whose vocabulary they are as wide as.
        batch: examples of a batch.
        length: tokens that each is padded to.
        examples: all of them.
        width: bytes of an entry.
        joined: whether the list is joined into one tensor.
    """

    model: CatalogModel
    batch: int
    length: int
    examples: int
    width: int
    joined: bool

    @property
    def each(self) -> int:
        """Elements of one example's logits."""
        return self.length * self.model.architecture.vocab

    @property
    def kept(self) -> int:
        """Bytes of the list."""
        return self.examples * self.each * self.width

    @property
    def size(self) -> int:
        """What is asked for."""
        return 2 * self.kept if self.joined else self.kept


@kind_at_levels(
    name="evaluation-logits",
    topic="H",
    levels=("junior", "mid", "senior"),
    title="Logits that an evaluation collects",
    sources=(
        "huggingface/transformers#12878",
        "huggingface/transformers#10722",
        "huggingface/transformers#18947",
    ),
)
def evaluation_logits(draw: Draw, level: Level) -> Draft | None:
    """Ask for what collected logits take, at the end of the loop or while they are joined."""
    batch = draw.choice(BATCHES)
    examples = batch * 4 * draw.between(1, 24) if level == "junior" else draw.choice(EXAMPLES)
    model = scenarios.any_model(draw)
    x = Evaluation(
        model=model,
        batch=batch,
        length=draw.choice([length for length in LENGTHS if length <= model.max_sequence]),
        examples=examples,
        width=4 if level == "junior" else draw.choice((4, 2)),
        joined=level == "senior",
    )
    if x.examples < 4 * x.batch or not LEAST <= x.kept <= MOST:
        return None
    return Draft(
        prompt=render("evaluation-logits", x=x, width=WIDTHS[x.width]),
        exhibit="\n".join(_code(x)),
        answer=QuantityAnswer(value=Fraction(x.size)),
        hints=(
            "Which tensors are still there after a batch, and who holds on to them?",
            "All logits of all batches are, one entry for each token and word of the vocabulary.",
            f"{number(x.examples)} × {number(x.length)} × {number(x.model.architecture.vocab)} "
            f"entries of {x.width} bytes" + (", and their copy." if x.joined else "."),
        ),
        solution=tuple(_steps(x)),
        mistakes=tuple(no_unit_slip(x.size, _mistakes(x))),
    )


def _code(x: Evaluation) -> Iterator[str]:
    yield "kept = []"
    yield "with torch.no_grad():"
    yield f"    for batch in loader:  # {x.batch} × {number(x.length)} tokens"
    yield "        kept.append(model(**batch).logits)"
    if x.joined:
        yield "scores = metric(torch.cat(kept))"


def _steps(x: Evaluation) -> Iterator[Step]:
    vocab = x.model.architecture.vocab
    tokens = x.examples * x.length
    yield Step(
        text=f"{number(x.examples)} × {number(x.length)} = {number(tokens)} tokens",
        depth="whiteboard",
    )
    yield Step(
        text=f"{x.width} × {number(rounded(tokens))} × {number(rounded(vocab))} = {paper(x.kept)}",
        depth="whiteboard",
    )
    if x.joined:
        yield Step(text=f"list and joined tensor: 2 × that = {paper(x.size)}", depth="whiteboard")
    yield Step(text=f"one batch: {gb(x.batch * x.each * x.width)}; in training it is freed")
    yield Step(
        text="keep what the metric needs (argmax, or the loss), or send each batch to the host"
    )
    yield Step(text=f"exactly {number(x.size)} bytes: {gb(x.size)}")


def _mistakes(x: Evaluation) -> Iterator[Mistake]:
    size = x.size
    if x.joined:
        yield wrong_size(
            x.kept,
            size,
            "the joined copy forgotten",
            "is the list; the joined tensor is there beside it, {off} more.",
        )
    else:
        yield wrong_size(
            2 * x.kept,
            size,
            "the joined copy counted",
            "has the joined tensor too; only the list is asked for, {off} less.",
        )
    yield wrong_size(
        Fraction(size, x.width),
        size,
        "elements taken for bytes",
        f"counts elements; each has {x.width} bytes, {{off}} more.",
    )
    yield wrong_size(
        x.batch * x.each * x.width,
        size,
        "one batch alone",
        "is one batch; the list holds on to all of them, {off} more.",
    )
    yield wrong_size(
        Fraction(size, x.length),
        size,
        "last token only",
        "has one token of each example; the model gives logits for all, {off} more.",
    )
    other = Fraction(size * (6 - x.width), x.width)
    yield wrong_size(
        other, size, "the other width", f"has entries of {6 - x.width} bytes: {{off}} off."
    )
