"""Topic F, inference: what tensor parallelism leaves of the cache on each GPU."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from engine.units import TB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.served import (
    REQUESTS,
    and_units,
    grouped,
    heads_said,
    latent,
    length_for,
    mistaken,
    slips,
    thousands,
    token_said,
)
from problems.serving import SPLIT_FROM, cache_for
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

RANKS = (2, 4, 8, 16, 32)
MOST = TB // 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model over ranks that split its key-value heads, and requests in the cache."""

    model: CatalogModel
    gpu: Accelerator
    cache: KVCache
    requests: int
    length: int

    @property
    def size(self) -> int:
        """Bytes of the cache on a GPU."""
        return self.cache.of_batch(self.requests, self.length)

    @property
    def whole(self) -> int:
        """Bytes of all keys and values, each counted once."""
        one = KVCache(architecture=self.model.architecture, stored=self.cache.stored)
        return one.of_batch(self.requests, self.length)


@kind(
    name="cache-under-tensor-parallel",
    topic="F",
    level="senior",
    title="KV cache on a GPU under tensor parallelism",
    sources=(
        "arXiv 2211.05102 section 3.3",
        "huggingface/blog#2345",
        "vllm-project/vllm vllm/config/model.py, get_num_kv_heads",
    ),
)
def cache_under_tensor_parallel(draw: Draw) -> Draft | None:
    """Ask for a GPU's cache where ranks split key-value heads, or outnumber them."""
    large = tuple(m for m in grouped() if m.parameters > SPLIT_FROM)
    model = draw.choice(latent() if draw.chance(15) else large)
    ranks = draw.choice(RANKS)
    heads = model.architecture.kv_heads
    # Half of the questions on grouped heads have more GPUs than these.
    if max(heads, ranks) % min(heads, ranks) or (ranks < heads and draw.chance(50)):
        return None
    gpu = scenarios.gpu_for(draw, ranks)
    case = Case(
        model=model,
        gpu=gpu,
        cache=replace(cache_for(draw, model, gpu), tensor=ranks),
        requests=draw.choice(REQUESTS),
        length=length_for(draw, model),
    )
    if case.size > min(MOST, case.gpu.memory):
        return None
    return Draft(
        prompt=render(
            "cache-under-tensor-parallel", case=case, heads=heads_said(model.architecture)
        ),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=(
            "Tensor parallelism divides heads. What is there to divide in this cache?",
            f"{_split_said(case)}.",
            (
                f"{thousands(case.cache.per_token)} a token on a GPU; the tokens are "
                f"{case.requests} × {number(case.length)}."
            ),
        ),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _split_said(case: Case) -> str:
    a, ranks = case.model.architecture, case.cache.tensor
    if a.latent:
        return "The latent belongs to all heads and is not split: each GPU keeps all of it"
    if ranks > a.kv_heads:
        return (
            f"{ranks} GPUs for {a.kv_heads} key-value heads: a head is not split further, so "
            f"{ranks // a.kv_heads} GPUs keep the same one"
        )
    each = a.kv_heads // ranks
    return f"{a.kv_heads} key-value heads over {ranks} GPUs: {each} on each"


def _steps(case: Case) -> Iterator[Step]:
    cache = case.cache
    yield Step(text=_split_said(case), depth="whiteboard")
    yield Step(text=f"one token on a GPU: {token_said(cache)}", depth="whiteboard")
    tokens = case.requests * case.length
    product = rounded(cache.per_token) * rounded(tokens)
    yield Step(
        text=f"{case.requests} × {number(case.length)} × {thousands(cache.per_token)} = "
        f"{paper(product, digits=4)}",
        depth="whiteboard",
    )
    yield Step(text=f"each key and value once, over all GPUs: {gb(case.whole)}")
    copies = Fraction(cache.tensor * case.size, case.whole)
    yield Step(text=f"copies of it over the {cache.tensor} GPUs: {int(copies)}")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _mistakes(case: Case) -> Iterator[Mistake]:
    a, right, ranks = case.model.architecture, case.size, case.cache.tensor
    yield wrong_size(
        Fraction(case.whole, ranks),
        right,
        "key-value heads split further than they go",
        f"divides the cache by {ranks}; "
        + ("the latent is not split" if a.latent else f"there are {a.kv_heads} key-value heads")
        + ", {off} more.",
    )
    yield wrong_size(
        case.whole,
        right,
        "nothing split",
        "is all key-value heads on every GPU; they are split over them, {off} less.",
    )
    yield wrong_size(
        ranks * right,
        right,
        "all of the group",
        f"is what all {ranks} GPUs hold together; one of them is asked for.",
    )
    yield wrong_size(
        Fraction(right, case.requests),
        right,
        "one request for all",
        f"is one request; there are {case.requests}, {{off}} more.",
    )
    for slip in slips(case.cache):
        yield mistaken(slip, right)
