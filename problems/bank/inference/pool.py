"""Topic F, inference: what a serving engine sets aside for its cache, and the tokens in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel, models
from engine.inference.cache import KVCache
from engine.inference.pool import Pool
from engine.inference.stored import BF16, FP16
from engine.inference.weights import weights
from engine.units import GB, GIB, MB, MIB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.scenarios import is_old
from problems.served import and_units, heads_said, kib, plain, slips, token_said
from problems.serving import any_card
from problems.wording import bare_gb, billions, gb, gib, number, paper, rounded
from problems.wrong_sizes import wrong_size

PERCENTS = (70, 75, 80, 85, 88, 90, 92, 94, 95)
# What a trial run needs besides weights and cache, in tenths of a GiB, as engines' logs have it.
ASIDE = (6, 40)
TENTH = GIB // 10
# A pool below this share of the card is one that no one serves from.
LEAST = Fraction(4, 100)
BLOCK = 16


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model in a serving engine on one card."""

    model: CatalogModel
    gpu: Accelerator
    percent: int
    aside: int
    cache: KVCache

    @property
    def pool(self) -> Pool:
        """The pool that the engine takes."""
        return Pool(
            memory=self.gpu.memory,
            share=Fraction(self.percent, 100),
            weights=weights(self.model.architecture, BF16),
            profiled=self.aside,
        )

    @property
    def share_said(self) -> str:
        """The share of the card on paper."""
        return f"{self.percent}% of {number(self.gpu.memory_mib)} MiB = {paper(self.pool.usable)}"

    @property
    def weights_said(self) -> str:
        """The weights on paper."""
        on_paper = rounded(self.model.parameters)
        return f"{billions(on_paper)} billion × 2 = {paper(2 * on_paper)}"


def _case(draw: Draw, known: tuple[CatalogModel, ...]) -> Case | None:
    gpu, model = any_card(draw), draw.choice(known)
    case = Case(
        model=model,
        gpu=gpu,
        percent=draw.choice(PERCENTS),
        aside=draw.between(*ASIDE) * TENTH,
        cache=KVCache(
            architecture=model.architecture, stored=FP16 if is_old(gpu) else BF16, block=BLOCK
        ),
    )
    return case if case.pool.size > LEAST * gpu.memory else None


@kind_at_levels(
    name="kv-pool",
    topic="F",
    levels=("junior", "mid"),
    title="What a serving engine sets aside for the cache",
    sources=(
        "vLLM documentation, Conserving Memory",
        "vllm-project/vllm#4253",
        "vllm-project/vllm vllm/v1/worker/gpu_worker.py",
    ),
)
def kv_pool(draw: Draw, level: Level) -> Draft | None:
    """Ask for the pool of an engine that takes a share of the card, whatever the model."""
    case = _case(draw, tuple(models().values()))
    if case is None:
        return None
    given = level == "junior"
    taken = f"{gb(case.pool.weights)} of weights" if given else "2 bytes for each weight"
    return Draft(
        prompt=render("kv-pool", case=case, given=given, weights=gb(case.pool.weights)),
        answer=QuantityAnswer(value=Fraction(case.pool.size)),
        hints=(
            "The engine takes its share of the card at once; the cache gets what is left of it.",
            f"The share is {gb(case.pool.usable)}. What lies in it besides the cache?",
            f"Take {taken} and {gib(case.aside)} off the share; a GiB is 2^30 bytes.",
        ),
        solution=(*_steps(case), Step(text=_last(case))),
        mistakes=and_units(_mistakes(case), case.pool.size),
    )


def _steps(case: Case) -> Iterator[Step]:
    pool = case.pool
    yield Step(text=f"share: {case.share_said}", depth="whiteboard")
    yield Step(text=f"weights: {case.weights_said}", depth="whiteboard")
    yield Step(text=f"besides: {gib(case.aside)} = {paper(case.aside)}", depth="whiteboard")
    parts = (pool.usable, 2 * rounded(case.model.parameters), case.aside)
    yield Step(
        text=f"{' - '.join(map(bare_gb, parts))} = {paper(pool.size)}",
        depth="whiteboard",
    )
    yield Step(text=f"weights: {number(case.model.parameters)} × 2 bytes = {gb(pool.weights)}")


def _last(case: Case) -> str:
    return f"With nothing rounded: exactly {gb(case.pool.size)}"


def other_pools(case: Case) -> Iterator[tuple[str, int, str]]:
    """Yield the name of a mistake, the pool that it gives, and what it leaves out."""
    pool, memory = case.pool, case.gpu.memory
    rest = memory - pool.weights - case.aside
    yield (
        "usable share forgotten",
        rest,
        f"fills the whole card; the engine takes {case.percent}% of it, {{off}} less.",
    )
    yield (
        "weights forgotten",
        pool.size + pool.weights,
        f"leaves out the weights, {gb(pool.weights)}, which lie in the share too.",
    )
    yield (
        "profile run forgotten",
        pool.size + case.aside,
        f"leaves out the {gib(case.aside)} that the engine measured besides.",
    )
    yield (
        "share of what the weights leave",
        rest * case.percent // 100,
        (
            f"takes {case.percent}% of what the weights leave; the share is of the card, so "
            "{off} are too many."
        ),
    )
    yield (
        "MiB taken for MB",
        pool.size - pool.usable * (MIB - MB) // MIB,
        "comes of the card's MiB read as MB, {off} less.",
    )
    yield (
        "cache left the whole share",
        pool.usable,
        "is the whole share; weights and the rest take {off} of it.",
    )


def _mistakes(case: Case) -> Iterator[Mistake]:
    for name, size, why in other_pools(case):
        yield wrong_size(size, case.pool.size, name, why)


@kind_at_levels(
    name="tokens-in-pool",
    topic="F",
    levels=("mid", "senior"),
    title="Tokens that a serving engine's cache holds",
    sources=(
        "vllm-project/vllm#550",
        "vllm-project/vllm vllm/v1/core/kv_cache_utils.py",
    ),
)
def tokens_in_pool(draw: Draw, level: Level) -> Draft | None:
    """Ask for the tokens in the pool: with a token's bytes given, or the model's shape."""
    case = _case(draw, plain())
    if case is None:
        return None
    given, tokens = level == "mid", case.pool.tokens(case.cache)
    each = case.cache.per_token
    return Draft(
        prompt=render(
            "tokens-in-pool",
            case=case,
            given=given,
            token=kib(each),
            heads=heads_said(case.model.architecture),
        ),
        answer=QuantityAnswer(value=Fraction(tokens), unit="1", default_unit=None),
        hints=(
            "First in bytes: what does the engine leave to the cache?",
            f"The share is {gb(case.pool.usable)}; weights and the {gib(case.aside)} come off it.",
            f"Divide {gb(case.pool.size)} by what one token takes"
            + (f", {kib(each)}." if given else f": {token_said(case.cache).partition(' = ')[0]}."),
        ),
        solution=tuple(_token_steps(case, tokens, given=given)),
        mistakes=tuple(_token_mistakes(case, tokens, given=given)),
    )


def _token_steps(case: Case, tokens: int, *, given: bool) -> Iterator[Step]:
    each = case.cache.per_token
    steps = tuple(_steps(case))
    yield from steps[:-1]
    one = f"{kib(each)} = {number(each)} bytes" if given else token_said(case.cache)
    yield Step(text=f"one token: {one}", depth="whiteboard")
    about = rounded(floor(case.pool.size / rounded(each)))
    yield Step(
        text=f"{bare_gb(case.pool.size)} billion / {number(rounded(each))} = about "
        f"{number(about)} tokens",
        depth="whiteboard",
    )
    yield steps[-1]
    yield Step(text=f"pool: {gb(case.pool.size)}, {number(case.pool.blocks(case.cache))} blocks")
    yield Step(
        text=f"With nothing rounded, and blocks whole: {BLOCK} tokens in each, {number(tokens)}"
    )


def _token_mistakes(case: Case, tokens: int, *, given: bool) -> Iterator[Mistake]:
    each, size = case.cache.per_token, case.pool.size
    for name, pool, why in other_pools(case):
        off = gb(abs(pool - size))
        yield _tokens_of(name, Fraction(pool, each), f"the pool {why.format(off=off)}")
    yield _tokens_of(
        "GB for GiB of the cache",
        Fraction(tokens * GB, GIB),
        f"a pool of {gib(size)} taken for as many GB gives 7% too few.",
    )
    for slip in slips(case.cache):
        if not given:
            wrong = slip.times * each
            off = kib(abs(wrong - each))
            yield _tokens_of(
                slip.name,
                tokens / slip.times,
                f"a token of {kib(wrong)} {slip.why.format(off=off)}",
            )
    yield _tokens_of(
        "blocks for tokens",
        Fraction(tokens, BLOCK),
        f"that is the blocks; each holds {BLOCK} tokens.",
    )


def _tokens_of(name: str, value: Fraction, why: str) -> Mistake:
    return Mistake(name=name, value=value, feedback=f"{number(round(value))} tokens: {why}")
