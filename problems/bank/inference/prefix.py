"""Topic F, inference: a prefix that requests share, kept once."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import (
    REQUESTS,
    and_units,
    cache_format,
    heads_said,
    kib,
    mistaken,
    plain,
    slips,
    thousands,
    token_said,
)
from problems.wording import bare_gb, gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

PREFIXES = (200, 256, 400, 500, 512, 800, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 6000, 8000)
OWN = (128, 250, 256, 500, 512, 750, 1000, 1024, 1500, 2000, 2048, 4000)


@dataclass(frozen=True, kw_only=True)
class Case:
    """Requests that begin with the same tokens and go on with their own."""

    model: CatalogModel
    cache: KVCache
    requests: int
    prefix: int
    own: int

    @property
    def once(self) -> int:
        """Bytes of the prefix, kept once."""
        return self.cache.of(self.prefix)

    @property
    def saved(self) -> int:
        """Bytes that are not kept again."""
        return (self.requests - 1) * self.once

    @property
    def alone(self) -> int:
        """Bytes of what requests do not share."""
        return self.cache.of_batch(self.requests, self.own)

    @property
    def shared(self) -> int:
        """Bytes of the prefix once and of all that is not shared."""
        return self.once + self.alone


@kind_at_levels(
    name="prefix-sharing",
    topic="F",
    levels=("mid", "senior"),
    title="A prompt's prefix that requests share",
    sources=(
        "arXiv 2309.06180 section 4.4",
        "arXiv 2312.07104 section 3",
        "harvard-edge/cs249r_book, StaffML interviews",
    ),
)
def prefix_sharing(draw: Draw, level: Level) -> Draft | None:
    """Ask what is saved by keeping a prefix once, or what the cache takes then."""
    model = draw.choice(plain())
    case = Case(
        model=model,
        cache=KVCache(architecture=model.architecture, stored=cache_format(draw)),
        requests=draw.choice(REQUESTS),
        prefix=draw.choice(PREFIXES),
        own=draw.choice(OWN),
    )
    if case.prefix + case.own > model.max_sequence:
        return None
    saved = level == "mid"
    right = case.saved if saved else case.shared
    tokens = number(case.prefix)
    return Draft(
        prompt=render(
            "prefix-sharing", case=case, saved=saved, heads=heads_said(model.architecture)
        ),
        answer=QuantityAnswer(value=Fraction(right)),
        hints=(
            "Tokens with the same tokens before them have the same keys and values.",
            f"How many copies of the {tokens} tokens are there without sharing, and with it?",
            f"A token takes {kib(case.cache.per_token)}; "
            + (
                f"of {case.requests} copies one stays."
                if saved
                else f"{tokens} tokens once, and {case.requests} × {number(case.own)} besides."
            ),
        ),
        solution=tuple(_steps(case, right, saved=saved)),
        mistakes=and_units(_mistakes(case, right, saved=saved), right),
    )


def _steps(case: Case, right: int, *, saved: bool) -> Iterator[Step]:
    cache, each = case.cache, rounded(case.cache.per_token)
    yield Step(text=f"one token: {token_said(cache)}", depth="whiteboard")
    once = each * case.prefix
    yield Step(
        text=f"the prefix: {number(case.prefix)} × {thousands(cache.per_token)} = {paper(once)}",
        depth="whiteboard",
    )
    if saved:
        yield Step(
            text=f"{case.requests - 1} of {case.requests} copies: {case.requests - 1} × "
            f"{paper(once)} = {paper((case.requests - 1) * once)}",
            depth="whiteboard",
        )
    else:
        alone = each * case.requests * case.own
        yield Step(
            text=f"besides: {case.requests} × {number(case.own)} × {thousands(cache.per_token)} = "
            f"{paper(alone)}",
            depth="whiteboard",
        )
        yield Step(
            text=f"{bare_gb(once)} + {bare_gb(alone)} = {paper(once + alone)}", depth="whiteboard"
        )
    apart = cache.of_batch(case.requests, case.prefix + case.own)
    yield Step(text=f"with nothing shared: {gb(apart)}; with the prefix once: {gb(case.shared)}")
    yield Step(text=f"With nothing rounded: exactly {gb(right)}")


def _mistakes(case: Case, right: int, *, saved: bool) -> Iterator[Mistake]:
    yield from _of_saving(case) if saved else _of_cache(case)
    for slip in slips(case.cache):
        yield mistaken(slip, right)


def _of_saving(case: Case) -> Iterator[Mistake]:
    right = case.saved
    yield wrong_size(
        case.requests * case.once,
        right,
        "the copy that stays",
        f"is all {case.requests} copies; one of them stays, {{off}}.",
    )
    yield wrong_size(
        case.once,
        right,
        "one copy for all",
        f"is one copy; {case.requests - 1} are saved, {{off}} more.",
    )
    yield wrong_size(
        case.shared,
        right,
        "what is left for what is saved",
        "is the cache that is left with sharing; what is saved is asked for, {off} from it.",
    )


def _of_cache(case: Case) -> Iterator[Mistake]:
    right = case.shared
    yield wrong_size(
        case.requests * case.once + case.alone,
        right,
        "prefix kept for each",
        f"keeps the prefix {case.requests} times; it is kept once, so {{off}} are too many.",
    )
    yield wrong_size(
        case.alone, right, "prefix forgotten", "leaves the prefix out; it is kept once, {off}."
    )
    yield wrong_size(
        case.once + case.cache.of(case.own),
        right,
        "one request for all",
        f"has what one request adds; there are {case.requests}, {{off}} more.",
    )
