"""Topic F, inference: a serving engine's log, and the memory that its refusal is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from engine.inference.pool import Pool
from engine.inference.stored import BF16, FP16
from engine.inference.weights import weights
from engine.units import GIB, KB, KIB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.scenarios import is_old
from problems.served import (
    LENGTHS,
    and_units,
    heads_said,
    kib,
    mistaken,
    plain,
    slips,
    token_said,
)
from problems.serving import any_card
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

BLOCKS = (8, 16, 16, 16, 32)
# Percent of a card that engines are set to use.
LEAST, MOST = 30, 97
# The engine's measured rest, in hundredths of a GiB.
ASIDE = (40, 350)
# Percent of the longest request that the cache holds.
SHORT = (15, 95)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An engine that has started with a cache too small for the longest request."""

    model: CatalogModel
    gpu: Accelerator
    pool: Pool
    cache: KVCache
    length: int

    @property
    def has(self) -> int:
        """Blocks of the pool."""
        return self.pool.blocks(self.cache)

    @property
    def needs(self) -> int:
        """Blocks of a request of the longest length."""
        return self.cache.blocks(self.length)

    @property
    def size(self) -> int:
        """Bytes that are missing."""
        return self.cache.of(self.length) - self.cache.of(self.has * self.cache.block)


@kind_at_levels(
    name="blocks-and-refusal",
    topic="F",
    levels=("mid", "senior"),
    title="A refusal in a serving engine's log",
    sources=(
        "vllm-project/vllm#2418",
        "vllm-project/vllm vllm/v1/core/kv_cache_utils.py",
    ),
)
def blocks_and_refusal(draw: Draw, level: Level) -> Draft | None:
    """Ask for the memory that is missing for one request of the longest length."""
    case = _case(draw)
    if case is None:
        return None
    given = level == "mid"
    return Draft(
        prompt=render(
            "blocks-and-refusal",
            case=case,
            token=kib(case.cache.per_token),
            heads=heads_said(case.model.architecture),
            given=given,
            percent=int(100 * case.pool.share),
        ),
        exhibit="\n".join(_log(case)),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=(
            "The log counts blocks and tokens; how many tokens more would the cache have to hold?",
            (
                f"{number(case.length)} tokens are asked for; {number(case.has)} blocks hold "
                f"{number(case.has * case.cache.block)}."
            ),
            f"{number((case.needs - case.has) * case.cache.block)} tokens are missing. "
            + (
                f"Multiply by {kib(case.cache.per_token)}."
                if given
                else "Multiply by what one takes in all layers, keys and values."
            ),
        ),
        solution=tuple(_steps(case, given=given)),
        mistakes=and_units(_mistakes(case, given=given), case.size),
    )


def _case(draw: Draw) -> Case | None:
    """Return an engine that holds a drawn part of its longest request; None where none can."""
    gpu, model = any_card(draw), draw.choice(plain())
    cache = KVCache(
        architecture=model.architecture,
        stored=FP16 if is_old(gpu) else BF16,
        block=draw.choice(BLOCKS),
    )
    length = draw.choice([n for n in LENGTHS if n <= model.max_sequence])
    held = cache.of(cache.blocks(length) * draw.between(*SHORT) // 100 * cache.block)
    taken = weights(model.architecture)
    percent = -(-100 * (taken + held + draw.between(*ASIDE) * GIB // 100) // gpu.memory)
    # What else is measured takes up the rest of a whole percent of the card.
    aside = (gpu.memory * percent // 100 - taken - held) // (GIB // 100) * (GIB // 100)
    if not LEAST <= percent <= MOST or aside > GIB * ASIDE[1] // 100 or held < cache.block:
        return None
    pool = Pool(memory=gpu.memory, share=Fraction(percent, 100), weights=taken, profiled=aside)
    case = Case(model=model, gpu=gpu, pool=pool, cache=cache, length=length)
    return case if 0 < case.has < case.needs else None


def _log(case: Case) -> Iterator[str]:
    """Yield the lines of a log; numbers have no thousands set apart, as logs have none."""
    pool, block = case.pool, case.cache.block
    tokens = case.has * block
    yield f"INFO   model    {case.model.name}, {case.cache.stored.name}"
    yield f"INFO   memory   card {_gib(pool.memory)}, share {float(pool.share):.2f}"
    yield f"INFO   memory   weights {_gib(pool.weights)}, besides {_gib(pool.profiled)}"
    yield f"INFO   cache    {case.has} blocks of {block} tokens"
    yield f"ERROR  startup  longest request {case.length} tokens, cache {tokens} tokens: refused"
    yield "ERROR  startup  raise the share of memory or shorten the longest request"


def _gib(size: int) -> str:
    return f"{size / GIB:.2f} GiB"


def _steps(case: Case, *, given: bool) -> Iterator[Step]:
    cache, missing = case.cache, (case.needs - case.has) * case.cache.block
    each = cache.per_token
    yield Step(
        text=f"missing: {number(case.length)} - {number(case.has)} × {cache.block} = "
        f"{number(missing)} tokens",
        depth="whiteboard",
    )
    one = f"{kib(each)} = {number(each)} bytes" if given else token_said(cache)
    yield Step(text=f"one token: {one}", depth="whiteboard")
    product = rounded(each) * rounded(missing)
    yield Step(
        text=f"{number(rounded(missing))} × {number(rounded(each))} = {paper(product, digits=4)}",
        depth="whiteboard",
    )
    yield Step(text=f"the pool as it is: {gb(cache.of(case.has * cache.block))}")
    yield Step(text=f"one request of the longest length: {gb(cache.of(case.length))}")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _mistakes(case: Case, *, given: bool) -> Iterator[Mistake]:
    cache, right = case.cache, case.size
    held = cache.of(case.has * cache.block)
    yield wrong_size(
        held,
        right,
        "what is there for what is missing",
        "is the cache as it is; what is missing is asked for, {off} from it.",
    )
    yield wrong_size(
        cache.of(case.length),
        right,
        "the whole request for what is missing",
        f"is a whole request of {number(case.length)} tokens; the cache has room for {gb(held)} "
        "of it.",
    )
    yield wrong_size(
        Fraction(right, cache.block),
        right,
        "blocks for tokens",
        f"counts the missing blocks as tokens; each holds {cache.block}: {{off}} more.",
    )
    if given:
        yield wrong_size(
            Fraction(right * KB, KIB),
            right,
            "KiB taken for kB",
            f"reads {kib(cache.per_token)} as kB; a KiB is 2^10 bytes, {{off}} more.",
        )
        return
    for slip in slips(cache):
        yield mistaken(slip, right)
