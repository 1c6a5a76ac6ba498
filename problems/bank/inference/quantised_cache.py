"""Topic F, inference: a cache in 8 bits or 4 in the place of one in 16."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, BITS_OF_A_BYTE, FP8, GROUPED_INT4, INT4, INT8
from engine.inference.weights import weights
from engine.units import TB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import (
    and_units,
    heads_said,
    length_for,
    mistaken,
    plain,
    slips,
    token_said,
)
from problems.wording import bare_gb, billions, gb, number, paper, rounded, short
from problems.wrong_sizes import wrong_size

REQUESTS = (2, 250)
MOST = 2 * TB
# What the cache is at least of weights and cache together.
LEAST = Fraction(1, 10)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model with 4-bit weights whose cache is in 16 bits, and the narrow one that may be."""

    model: CatalogModel
    narrow: KVCache
    requests: int
    length: int

    @property
    def wide(self) -> KVCache:
        """The cache in 16 bits."""
        return replace(self.narrow, stored=BF16)

    @property
    def before(self) -> int:
        """Bytes of the cache in 16 bits."""
        return self.wide.of_batch(self.requests, self.length)

    @property
    def after(self) -> int:
        """Bytes of the narrow one."""
        return self.narrow.of_batch(self.requests, self.length)

    @property
    def weights(self) -> int:
        """Bytes of the weights, half a byte each."""
        return weights(self.model.architecture, INT4)


@kind_at_levels(
    name="quantised-cache",
    topic="F",
    levels=("mid", "senior"),
    title="Weights in 4 bits, and the cache beside them",
    sources=(
        "arXiv 2402.02750 section 1",
        "Transformers documentation, KV cache strategies",
    ),
)
def quantised_cache(draw: Draw, level: Level) -> Draft | None:
    """Ask what 4-bit weights and a 16-bit cache take, or what a 4-bit cache saves of it."""
    model = draw.choice(plain())
    stored = BF16 if level == "mid" else draw.choice((GROUPED_INT4, GROUPED_INT4, FP8, INT8))
    case = Case(
        model=model,
        narrow=KVCache(architecture=model.architecture, stored=stored),
        requests=draw.between(*REQUESTS),
        length=length_for(draw, model),
    )
    total = level == "mid"
    if case.before > MOST or case.before < LEAST * case.weights:
        return None
    right = case.weights + case.before if total else case.before - case.after
    return Draft(
        prompt=render(
            "quantised-cache", case=case, total=total, heads=heads_said(model.architecture)
        ),
        answer=QuantityAnswer(value=Fraction(right)),
        hints=_hints(case, total=total),
        solution=tuple(_steps(case, right, total=total)),
        mistakes=and_units(_mistakes(case, right, total=total), right),
    )


def _hints(case: Case, *, total: bool) -> tuple[str, str, str]:
    tokens = f"{case.requests} × {number(case.length)} tokens"
    if total:
        return (
            "A format of weights says nothing of what is computed and kept with them.",
            "Weights take half a byte each; the cache is counted in its own format, at 2 bytes.",
            (
                f"{billions(case.model.parameters)} billion × 0.5, and {tokens} of "
                f"{number(case.wide.per_token)} bytes."
            ),
        )
    each = short(case.narrow.stored.each)
    return (
        "How many bits does an element have before and after, with all that belongs to it?",
        f"16 bits before; after, {each} bits.",
        f"Of {number(case.wide.per_token)} bytes a token (16 - {each})/16 go; {tokens} in all.",
    )


def _steps(case: Case, right: int, *, total: bool) -> Iterator[Step]:
    wide, tokens = case.wide, case.requests * case.length
    yield Step(text=f"one token in 16 bits: {token_said(wide)}", depth="whiteboard")
    before = Fraction(rounded(wide.per_token) * rounded(tokens))
    yield Step(
        text=f"{case.requests} × {number(case.length)} × {number(rounded(wide.per_token))} = "
        f"{paper(before)}",
        depth="whiteboard",
    )
    if total:
        taken = Fraction(case.model.parameters, 2)
        yield Step(
            text=f"weights: {billions(case.model.parameters)} billion × 0.5 = {paper(taken)}",
            depth="whiteboard",
        )
        yield Step(
            text=f"{bare_gb(before)} + {bare_gb(taken)} = {paper(before + taken)}",
            depth="whiteboard",
        )
        yield Step(text=f"weights {gb(case.weights)}, cache {gb(case.before)}")
    else:
        yield from _saving(case, before)
    yield Step(text=f"With nothing rounded: exactly {gb(right)}")


def _saving(case: Case, before: Fraction) -> Iterator[Step]:
    x = case.narrow.stored
    if x.block:
        yield Step(
            text=f"{x.bits} + {x.scale_bits}/{x.block} = {short(x.each)} bits an element",
            depth="whiteboard",
        )
    share = 1 - x.each / BF16.bits
    yield Step(
        text=f"saved: (16 - {short(x.each)})/16 × {paper(before)} = {paper(share * before)}",
        depth="whiteboard",
    )
    yield Step(text=f"in 16 bits {gb(case.before)}, in {x.name} {gb(case.after)}")


def _mistakes(case: Case, right: int, *, total: bool) -> Iterator[Mistake]:
    if total:
        yield from _of_total(case, right)
        for slip in slips(case.wide):
            yield mistaken(slip, right, case.before)
        return
    yield wrong_size(
        case.after,
        right,
        "what is left for what is saved",
        "is the cache that is left; what is saved is asked for, {off} from it.",
    )
    yield wrong_size(
        case.before,
        right,
        "the whole cache for what is saved",
        "is the cache in 16 bits; {off} of it stay.",
    )
    if case.narrow.stored.block:
        bare = case.before - replace(case.narrow, stored=INT4).of_batch(case.requests, case.length)
        yield wrong_size(
            bare, right, "scales forgotten", "has 4 bits an element and no scales, {off} of them."
        )
    yield wrong_size(
        case.weights + right,
        right,
        "weights counted too",
        "adds the weights; they are as they were, {off}.",
    )
    for slip in slips(case.wide):
        yield mistaken(slip, right)


def _of_total(case: Case, right: int) -> Iterator[Mistake]:
    quarter = Fraction(case.before * INT4.bits, BITS_OF_A_BYTE * 2)
    yield wrong_size(
        case.weights + quarter,
        right,
        "cache as narrow as the weights",
        "has the cache in 4 bits as the weights are; it is in 16, {off} more.",
    )
    yield wrong_size(
        case.weights, right, "cache forgotten", "is the weights; the cache takes {off}."
    )
    yield wrong_size(
        case.before, right, "weights forgotten", "is the cache; the weights take {off}."
    )
    yield wrong_size(
        2 * case.model.parameters + case.before,
        right,
        "weights in 16 bits",
        "has 2 bytes a weight; they are in 4 bits, {off} less.",
    )
