"""Topic F, inference: what weights take as they are stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel, models
from engine.inference.stored import (
    BF16,
    BITS_OF_A_BYTE,
    FP8,
    FP16,
    FP32,
    GPTQ,
    INT4,
    INT8,
    NF4,
    NF4_DOUBLE,
    Stored,
)
from engine.inference.weights import matrices, weights
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.scenarios import any_model, gpu_for
from problems.served import and_units
from problems.wording import PAPER_DIGITS, billions, bytes_of, gb, number, paper, rounded, short
from problems.wrong_sizes import wrong_size

WHOLE = (FP32, BF16, FP16, FP8, INT8, INT4)
SCALED = (GPTQ, NF4, NF4_DOUBLE)
TRAINED = 16


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model and how its weights are stored: all alike, or embedding and head in 16 bits."""

    model: CatalogModel
    stored: Stored
    rest: Stored | None = None

    @property
    def size(self) -> int:
        """Bytes of the weights."""
        return weights(self.model.architecture, self.stored, rest=self.rest)

    @property
    def parts(self) -> tuple[tuple[str, int, Stored], ...]:
        """What is stored alike: its name, parameters and format."""
        a = self.model.architecture
        if self.rest is None:
            return (("weights", a.parameters, self.stored),)
        layers = matrices(a)
        return (
            ("matrices of the layers", layers, self.stored),
            ("the others", a.parameters - layers, self.rest),
        )


@kind_at_levels(
    name="weights-by-precision",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="Stored weights of a model",
    sources=(
        "arXiv 2305.14314 section 3",
        "arXiv 2210.17323 section 4",
        "ollama/ollama#10546",
    ),
)
def weights_by_precision(draw: Draw, level: Level) -> Draft:
    """Ask for weights in 32 to 4 bits, with scales, and with what quantisers leave as it is."""
    case = _case(draw, level)
    card = gpu_for(draw, 1)
    return Draft(
        prompt=render("weights-by-precision", case=case, gpu=card, parts=case.parts),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=_hints(case),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _case(draw: Draw, level: Level) -> Case:
    if level == "junior":
        return Case(model=any_model(draw), stored=draw.choice(WHOLE))
    if level == "mid":
        return Case(model=any_model(draw), stored=draw.choice(SCALED))
    rotary = [m for m in models().values() if not m.architecture.positions]
    return Case(model=draw.choice(rotary), stored=draw.choice(SCALED), rest=BF16)


def _hints(case: Case) -> tuple[str, str, str]:
    first = "How many bits does one weight take, and what belongs to it besides?"
    if not case.stored.block:
        return (
            "Every weight is stored, whether a token meets it or not.",
            f"In {case.stored.title} a weight has {case.stored.bits} bits; a byte has 8.",
            (
                f"Multiply {_in_billions(case.model.parameters)} by "
                f"{bytes_of(case.stored.each / BITS_OF_A_BYTE)}."
            ),
        )
    second = (
        f"A scale is shared by {case.stored.block} weights: per weight it is its bits over "
        f"{case.stored.block}."
    )
    bits = short(case.stored.each)
    if case.rest is None:
        last = f"{bits} bits for each of {_in_billions(case.model.parameters)} weights."
    else:
        layers, others = (count for _, count, _ in case.parts)
        last = (
            f"{bits} bits for each of {_in_billions(layers)} weights, and 2 bytes for each of "
            f"{_in_billions(others)}."
        )
    return (first, second, last)


def _in_billions(count: int) -> str:
    return f"{billions(rounded(count))} billion"


def _bytes(stored: Stored) -> str:
    return short(stored.each / BITS_OF_A_BYTE)


def _steps(case: Case) -> Iterator[Step]:
    if case.stored.block:
        yield Step(text=_bits_said(case.stored), depth="whiteboard")
    on_paper = Fraction(0)
    for name, count, stored in case.parts:
        size = rounded(count) * Fraction(_bytes(stored))
        on_paper += size
        yield Step(
            text=f"{name}: {_in_billions(count)} × {_bytes(stored)} = "
            f"{paper(size, digits=PAPER_DIGITS + 1)}",
            depth="whiteboard",
        )
    if case.rest is not None:
        yield Step(text=f"together {paper(on_paper, digits=PAPER_DIGITS + 1)}", depth="whiteboard")
    for name, count, stored in case.parts:
        yield Step(text=f"{name}: {number(count)}, {short(stored.each)} bits each")
    both = number(case.model.parameters)
    yield Step(text=f"embedding, norms and head are among the {both} parameters")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _bits_said(x: Stored) -> str:
    outer = f" + {x.outer_bits}/({x.block} × {x.outer})" if x.outer else ""
    bits = f"{x.bits} + {x.scale_bits}/{x.block}{outer} = {short(x.each)} bits"
    return f"{bits} = {_bytes(x)} bytes a weight"


def _mistakes(case: Case) -> Iterator[Mistake]:
    right, parameters = case.size, case.model.parameters
    active = case.model.architecture.active_parameters
    yield wrong_size(
        right * Fraction(active, parameters),
        right,
        "idle experts left out",
        f"counts the {number(active)} parameters that one token meets; any expert may be asked "
        "for, {off} more.",
    )
    if case.stored.block:
        yield from _of_scales(case)
    for other, name in ((BF16, "weights at two bytes"), (FP32, "weights at four bytes")):
        if other.bits != case.stored.bits:
            yield wrong_size(
                other.size(parameters),
                right,
                name,
                f"has {other.bits // BITS_OF_A_BYTE} bytes for every weight: {{off}} off.",
            )
    yield wrong_size(
        Fraction(parameters),
        right,
        "one byte a weight",
        "has 1 byte for every weight: {off} off.",
    )
    yield wrong_size(
        TRAINED * parameters,
        right,
        "training's states counted",
        f"is the {TRAINED} bytes a parameter of a training run; serving has no gradients and no "
        "optimizer, so {off} are too many.",
    )


def _of_scales(case: Case) -> Iterator[Mistake]:
    x, right = case.stored, case.size
    bare = sum(
        INT4.size(count) if stored is x else stored.size(count) for _, count, stored in case.parts
    )
    yield wrong_size(
        bare, right, "scales forgotten", "has 4 bits a weight and no scales, {off} of them."
    )
    if case.rest is not None:
        yield wrong_size(
            weights(case.model.architecture, x),
            right,
            "embedding and head quantised too",
            "has everything in 4 bits; embedding and head stay in 16, {off} more.",
        )
        layers = case.parts[0][1]
        yield wrong_size(
            x.size(layers),
            right,
            "embedding and head forgotten",
            "is the layers alone; embedding and head are beside them, {off}.",
        )
