"""Topic F, inference: logits of all positions of a prompt."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel, models
from engine.inference.logits import logits
from engine.units import TB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import FEW, and_units, length_for
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

CHUNKS = (512, 1 << 10, 2048, 4096, 8192, 16_384)
# All prompts of a batch together; a vocabulary of 100,000 makes 0.4 TB of so many in fp32.
MOST = TB // 2
SHORTEST = 512


@dataclass(frozen=True, kw_only=True)
class Case:
    """Prompts that a model runs over.

    Args:
        model: with its vocabulary.
        prompts: how many.
        length: tokens of each.
        copied: whether fp32 values of all logits lie beside them.
        chunk: tokens of a forward pass; 0 where all prompts are in one.
        kept: positions of a prompt whose logits are made when they are limited; 0 where they
            are not, and what is there is asked for and not what is saved.
    """

    model: CatalogModel
    prompts: int
    length: int
    copied: bool = False
    chunk: int = 0
    kept: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of all prompts."""
        return self.prompts * self.length

    @property
    def positions(self) -> int:
        """Positions whose logits are asked about."""
        if self.chunk:
            return min(self.chunk, self.tokens)
        return self.tokens - self.prompts * self.kept

    @property
    def each(self) -> int:
        """Bytes for one entry of the vocabulary and one position."""
        return self.of(1) // self.model.architecture.vocab

    @property
    def size(self) -> int:
        """Bytes that are asked for."""
        return self.of(self.positions)

    def of(self, positions: int, *, copied: bool | None = None) -> int:
        """Return the bytes of the logits of so many positions."""
        return logits(
            self.model.architecture,
            positions,
            copied=self.copied if copied is None else copied,
        )


@kind_at_levels(
    name="prompt-logits",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="Logits of a whole prompt",
    sources=(
        "huggingface/transformers#30860",
        "Blaizzy/mlx-vlm#1732",
        "vllm-project/vllm#5907",
    ),
)
def prompt_logits(draw: Draw, level: Level) -> Draft | None:
    """Ask for the logits of prompts, what limiting them saves, or what a chunk has of them."""
    case = _case(draw, level)
    if case is None:
        return None
    return Draft(
        prompt=render("prompt-logits", case=case, a=case.model.architecture),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=_hints(case),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _case(draw: Draw, level: Level) -> Case | None:
    model = draw.choice(tuple(models().values()))
    length = length_for(draw, model) - draw.between(0, 20) * 10
    prompts = draw.choice((1, 1, *FEW))
    if level == "junior":
        case = Case(model=model, prompts=prompts, length=length)
    elif level == "mid":
        case = Case(model=model, prompts=prompts, length=length, copied=True, kept=1)
    else:
        chunk = draw.choice(CHUNKS)
        case = Case(model=model, prompts=prompts, length=length, copied=True, chunk=chunk)
        if case.tokens <= chunk:
            return None
    return case if case.size <= MOST else None


def _said(case: Case) -> str:
    """Return the positions as a product: "8 × 2,048"."""
    if case.chunk:
        return number(case.chunk)
    each = f"({number(case.length)} - {case.kept})" if case.kept else number(case.length)
    return each if case.prompts == 1 else f"{case.prompts} × {each}"


def _hints(case: Case) -> tuple[str, str, str]:
    vocab = number(case.model.architecture.vocab)
    first = "A logit for every entry of the vocabulary at every position that has any."
    if case.chunk:
        return (
            first,
            (
                f"Tokens go through the model {number(case.chunk)} at a time; what of a chunk is "
                "done with is free before the next."
            ),
            f"{number(case.chunk)} × {vocab} entries, each of 2 bytes and 4 more beside them.",
        )
    if case.kept:
        return (
            first,
            f"Of each prompt's {number(case.length)} positions one stays.",
            f"{_said(case)} positions × {vocab}, each of 2 bytes and 4 more beside them.",
        )
    return (
        first,
        f"How many positions are there? {_said(case)}.",
        f"{_said(case)} × {vocab} entries, each of 2 bytes.",
    )


def _steps(case: Case) -> Iterator[Step]:
    vocab, positions = case.model.architecture.vocab, case.positions
    each = "2 + 4 = 6 bytes" if case.copied else "2 bytes"
    yield Step(text=f"an entry: {each}", depth="whiteboard")
    product = rounded(positions) * rounded(vocab) * case.each
    yield Step(
        text=f"{number(rounded(positions))} × {number(rounded(vocab))} × {case.each} = "
        f"{paper(product, digits=4)}",
        depth="whiteboard",
    )
    if not case.chunk:
        yield Step(text=f"positions: {_said(case)}, {number(positions)} in all")
    yield Step(text=f"the logits in 16 bits alone: {gb(case.of(positions, copied=False))}")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _mistakes(case: Case) -> Iterator[Mistake]:
    right, positions = case.size, case.positions
    if case.chunk:
        yield wrong_size(
            case.of(case.tokens),
            right,
            "all positions at once",
            f"has all {number(case.tokens)} positions at once; a chunk has {number(case.chunk)}, "
            "so {off} are too many.",
        )
    elif case.prompts > 1:
        yield wrong_size(
            Fraction(right, case.prompts),
            right,
            "one request for all",
            f"is one prompt; there are {case.prompts}, {{off}} more.",
        )
    yield from _of_width(case)
    yield wrong_size(
        case.of(case.prompts),
        right,
        "last positions alone",
        f"is one position of each prompt; {number(positions)} are asked about, {{off}} more.",
    )
    a = case.model.architecture
    yield wrong_size(
        Fraction(right * a.hidden, a.vocab),
        right,
        "hidden states for logits",
        f"has the hidden size, {number(a.hidden)}, at each position; logits have one entry for "
        f"each of {number(a.vocab)}, {{off}} more.",
    )


def _of_width(case: Case) -> Iterator[Mistake]:
    right, narrow = case.size, case.of(case.positions, copied=False)
    if not case.copied:
        why = "has 4 bytes an entry; they have 2, {off} less."
        yield wrong_size(2 * right, right, "logits in 32 bits", why)
        return
    yield wrong_size(
        narrow,
        right,
        "fp32 copy forgotten",
        "is the 16-bit logits; the fp32 tensor beside them takes {off}.",
    )
    yield wrong_size(
        right - narrow,
        right,
        "16-bit logits forgotten",
        "is the fp32 tensor; the 16-bit logits that it is made of take {off}.",
    )
