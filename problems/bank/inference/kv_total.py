"""Topic F, inference: the cache of all requests at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel
from engine.inference.cache import KVCache
from engine.units import KB, KIB, TB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import (
    FEW,
    REQUESTS,
    and_units,
    cache_format,
    heads_said,
    kib,
    latent,
    length_for,
    mistaken,
    plain,
    slips,
    thousands,
    token_said,
)
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

SHARES = (2, 4, 8)
# More than a node of the largest cards holds.
MOST = 2 * TB


@dataclass(frozen=True, kw_only=True)
class Group:
    """Requests that are alike."""

    requests: int
    prompt: int
    answer: int

    @property
    def length(self) -> int:
        """Tokens of one of them at its end."""
        return self.prompt + self.answer

    @property
    def said(self) -> str:
        """Their tokens as a product: "16 × (3,072 + 1,024)"."""
        each = number(self.length)
        if self.answer:
            each = f"({number(self.prompt)} + {number(self.answer)})"
        return f"{self.requests} × {each}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model, its cache and the requests that are in it."""

    model: CatalogModel
    cache: KVCache
    groups: tuple[Group, ...]
    given: bool

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each request."""
        return tuple(g.length for g in self.groups for _ in range(g.requests))

    @property
    def tokens(self) -> int:
        """Tokens of all requests."""
        return sum(self.lengths)

    @property
    def size(self) -> int:
        """Bytes of the cache."""
        return self.cache.total(self.lengths)


@kind_at_levels(
    name="kv-total",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="KV cache of a batch",
    sources=(
        "arXiv 2309.06180 section 3",
        "ray-project/llm-numbers#25",
        "harvard-edge/cs249r_book, StaffML cloud/01_compute_and_memory.md",
    ),
)
def kv_total(draw: Draw, level: Level) -> Draft | None:
    """Ask for the cache of requests of one length, of prompt and answer, or of two lengths."""
    case = _case(draw, level)
    if case.size > MOST:
        return None
    return Draft(
        prompt=render(
            "kv-total",
            case=case,
            token=kib(case.cache.per_token),
            heads=heads_said(case.model.architecture),
        ),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=(
            "The cache grows with every token of every request, and with nothing else.",
            (
                f"One token takes {kib(case.cache.per_token)}; how many tokens are in the cache?"
                if case.given
                else "First one token: the vectors that a layer keeps, times layers, times bytes."
            ),
            f"{thousands(case.cache.per_token)} a token, and {_groups_said(case)} tokens.",
        ),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _case(draw: Draw, level: Level) -> Case:
    model = draw.choice(latent() if level == "senior" and draw.chance(20) else plain())
    groups = [_group(draw, model, answers=level == "mid")]
    if level == "senior":
        longer = groups[0].length * draw.choice(SHARES)
        groups.append(Group(requests=draw.choice(FEW), prompt=longer, answer=0))
    return Case(
        model=model,
        cache=KVCache(architecture=model.architecture, stored=cache_format(draw)),
        groups=tuple(groups),
        given=level == "junior",
    )


def _group(draw: Draw, model: CatalogModel, *, answers: bool) -> Group:
    length = length_for(draw, model)
    answer = length // draw.choice(SHARES) if answers else 0
    return Group(requests=draw.choice(REQUESTS), prompt=length - answer, answer=answer)


def _groups_said(case: Case) -> str:
    return " + ".join(group.said for group in case.groups)


def _steps(case: Case) -> Iterator[Step]:
    cache = case.cache
    if case.given:
        one = f"{kib(cache.per_token)} = {number(cache.per_token)} bytes"
    else:
        one = token_said(cache)
    yield Step(text=f"one token: {one}", depth="whiteboard")
    yield Step(text=f"tokens: {_groups_said(case)} = {number(case.tokens)}", depth="whiteboard")
    product = rounded(cache.per_token) * rounded(case.tokens)
    yield Step(
        text=f"{number(rounded(cache.per_token))} × {number(rounded(case.tokens))} = "
        f"{paper(product, digits=4)}",
        depth="whiteboard",
    )
    for group in case.groups:
        yield Step(
            text=f"a request of {number(group.length)} tokens: {gb(cache.of(group.length))}"
        )
    yield Step(
        text=f"With nothing rounded: {number(case.tokens)} × "
        f"{number(cache.per_token)} bytes = {gb(case.size)}"
    )


def _mistakes(case: Case) -> Iterator[Mistake]:
    cache, right = case.cache, case.size
    if len(case.groups) == 1:
        yield wrong_size(
            cache.of(case.groups[0].length),
            right,
            "one request for all",
            f"is one request; there are {case.groups[0].requests}, {{off}} more.",
        )
    else:
        yield from _of_two_lengths(case)
    if case.groups[0].answer:
        yield from _of_answers(case)
    if case.given:
        yield wrong_size(
            Fraction(right * KB, KIB),
            right,
            "KiB taken for kB",
            f"reads {kib(cache.per_token)} as kB; a KiB is 2^10 bytes, {{off}} more.",
        )
    else:
        for slip in slips(cache):
            yield mistaken(slip, right)


def _of_two_lengths(case: Case) -> Iterator[Mistake]:
    short, long = case.groups
    cache, right = case.cache, case.size
    for name, group, other in (("long", short, long), ("short", long, short)):
        yield wrong_size(
            cache.of_batch(group.requests, group.length),
            right,
            f"{name} requests left out",
            f"leaves out the {other.requests} requests of {number(other.length)} tokens, {{off}}.",
        )
    yield wrong_size(
        cache.of_batch(short.requests + long.requests, long.length),
        right,
        "every request at the longest length",
        f"gives every request {number(long.length)} tokens; {short.requests} have "
        f"{number(short.length)}, so {{off}} are too many.",
    )


def _of_answers(case: Case) -> Iterator[Mistake]:
    group = case.groups[0]
    yield wrong_size(
        case.cache.of_batch(group.requests, group.prompt),
        case.size,
        "answer's tokens left out",
        f"keeps the prompts; the {number(group.answer)} tokens of each answer are cached too, "
        "{off} more.",
    )
    yield wrong_size(
        case.cache.of_batch(group.requests, group.answer),
        case.size,
        "prompt's tokens left out",
        f"keeps the answers; the {number(group.prompt)} tokens of each prompt are cached too, "
        "{off} more.",
    )
