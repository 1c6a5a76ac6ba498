"""Topic F, inference: what one token adds to the cache of keys and values."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, FP16, FP32
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import (
    REQUESTS,
    and_thousands,
    cache_format,
    elements_said,
    grouped,
    heads_said,
    kib,
    latent,
    length_for,
    mistaken,
    plain,
    slips,
    token_said,
    width_of,
)
from problems.serving import SPLIT_FROM
from problems.wording import bytes_of, number, short

SPLITS = (2, 4, 8, 16)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model that is served, and its cache on one GPU."""

    model: CatalogModel
    gpu: Accelerator
    cache: KVCache
    requests: int
    length: int

    @property
    def size(self) -> int:
        """Bytes of a token on one GPU."""
        return self.cache.per_token


@kind_at_levels(
    name="kv-per-token",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="KV cache of one token",
    sources=(
        "arXiv 2309.06180 section 3",
        "vllm-project/vllm#22291",
        "arXiv 2305.13245 section 2",
        "arXiv 2405.04434 section 2.1",
    ),
)
def kv_per_token(draw: Draw, level: Level) -> Draft:
    """Ask for a token's cache: whole heads, grouped heads, or a latent and ranks that split."""
    case = _case(draw, level)
    return Draft(
        prompt=render("kv-per-token", case=case, heads=heads_said(case.model.architecture)),
        answer=QuantityAnswer(value=Fraction(case.size), default_unit="KiB"),
        hints=_hints(case),
        solution=tuple(_steps(case)),
        mistakes=tuple(_mistakes(case)),
    )


def _case(draw: Draw, level: Level) -> Case:
    tensor, stored = 1, cache_format(draw)
    if level == "junior":
        stored = draw.choice((BF16, FP16, FP32))
        model = draw.choice([m for m in plain() if m not in grouped()])
    elif level == "mid":
        model = draw.choice(grouped())
    else:
        large = [m for m in grouped() if m.parameters > SPLIT_FROM]
        model = draw.choice(latent() if draw.chance(35) else large)
        tensor = draw.choice(SPLITS)
    heads = model.architecture.kv_heads
    while max(heads, tensor) % min(heads, tensor):
        tensor //= 2
    gpu = scenarios.gpu_for(draw, tensor)
    if stored is BF16 and scenarios.is_old(gpu):
        stored = FP16
    return Case(
        model=model,
        gpu=gpu,
        cache=KVCache(architecture=model.architecture, stored=stored, tensor=tensor),
        requests=draw.choice(REQUESTS),
        length=length_for(draw, model),
    )


def _hints(case: Case) -> tuple[str, str, str]:
    a, cache = case.model.architecture, case.cache
    if a.latent:
        kept = "one latent vector and the rotary part of the keys, shared by all heads"
    else:
        kept = "a vector of keys and one of values for each key-value head"
    third = f"{elements_said(cache)} elements, each of {bytes_of(width_of(cache))}."
    if cache.tensor > 1:
        split = "has no heads to split: each GPU keeps all of it" if a.latent else _split(cache)
        return (
            "What does a layer keep for a token, and what of it can GPUs split?",
            f"A layer keeps {kept}; that {split}.",
            third,
        )
    return (
        "What does every layer keep of a token, so that later tokens can attend to it?",
        f"A layer keeps {kept}; nothing of it depends on the number of requests.",
        third,
    )


def _split(cache: KVCache) -> str:
    heads = cache.architecture.kv_heads
    if cache.tensor > heads:
        return f"is split by heads, and {cache.tensor} GPUs share {heads}, one at least on each"
    return f"is split by heads: {heads} over {cache.tensor} GPUs"


def _steps(case: Case) -> Iterator[Step]:
    cache = case.cache
    yield Step(text=f"{token_said(cache)} = {kib(case.size)}", depth="whiteboard")
    a = case.model.architecture
    if a.latent:
        yield Step(
            text=f"a layer: {a.latent.kv_rank} of the latent + {a.latent.rope_head_dim} rotary, "
            f"{number(cache.per_layer)} bytes"
        )
    else:
        yield Step(
            text=f"a layer: keys and values of {number(cache.per_layer)} bytes in "
            f"{cache.stored.title}"
        )
    if cache.tensor > 1:
        whole = KVCache(architecture=a, stored=cache.stored)
        yield Step(text=f"one copy over all GPUs: {kib(whole.per_token)}")
    yield Step(text=f"{a.layers} layers; nothing is rounded on paper: {kib(case.size)}")


def _mistakes(case: Case) -> Iterator[Mistake]:
    cache, right = case.cache, case.size
    if cache.tensor > 1:
        yield from _of_ranks(case)
    for slip in slips(cache):
        yield mistaken(slip, right, said=kib)
    yield Mistake(
        name="elements taken for bytes",
        value=right / width_of(cache),
        feedback=f"{kib(right / width_of(cache))} counts elements; each has "
        f"{short(width_of(cache))} bytes.",
    )
    yield from and_thousands(right)


def _of_ranks(case: Case) -> Iterator[Mistake]:
    a, cache, right = case.model.architecture, case.cache, case.size
    whole = KVCache(architecture=a, stored=cache.stored).per_token
    yield Mistake(
        name="all of the group",
        value=Fraction(whole),
        feedback=f"{kib(whole)} is all key-value heads; a GPU of {cache.tensor} keeps its own, "
        f"{kib(right)}.",
    )
    yield Mistake(
        name="key-value heads split further than they go",
        value=Fraction(whole, cache.tensor),
        feedback=f"{kib(Fraction(whole, cache.tensor))} is the whole divided by {cache.tensor}; "
        + ("the latent is not split." if a.latent else f"{a.kv_heads} heads are not."),
    )
