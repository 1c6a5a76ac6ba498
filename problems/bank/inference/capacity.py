"""Topic F, inference: how many requests, and how long ones, the cards have room for."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.units import GB
from problems.answers.count import CountAnswer
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.served import (
    LENGTHS,
    REQUESTS,
    heads_said,
    kib,
    latent,
    plain,
    slips,
    thousands,
    token_said,
)
from problems.serving import ROOMS, Serving, any_card, cache_for, stored_for
from problems.wording import gb, number, paper, rounded, short

CARDS = (2, 4, 8)
FEWEST, MOST = 2, 600
# Part of the room that rounding on paper may cost without another answer.
CLEAR = 150
SHARES = (2, 4, 8)
SHORTEST = 256
# What weights leave of the room where it is asked for on paper.
LEAST = Fraction(1, 5)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model on its cards, and requests of a prompt and an answer."""

    serving: Serving
    prompt: int
    answer: int

    @property
    def length(self) -> int:
        """Tokens of a request at its end."""
        return self.prompt + self.answer

    @property
    def each(self) -> int:
        """Bytes of a request."""
        return self.serving.cache.of(self.length)


def _serving(draw: Draw, *, several: bool) -> Serving:
    gpu = any_card(draw)
    model = draw.choice(latent() if several and draw.chance(25) else plain())
    return Serving(
        model=model,
        gpu=gpu,
        gpus=draw.choice(CARDS) if several else 1,
        percent=draw.choice(ROOMS),
        stored=stored_for(draw, gpu),
        cache=cache_for(draw, model, gpu),
    )


@kind_at_levels(
    name="concurrent-requests",
    topic="F",
    levels=("mid", "senior"),
    title="Requests that fit at once",
    sources=(
        "arXiv 2309.06180 section 3",
        "stas00/ml-engineering inference/README.md",
    ),
)
def concurrent_requests(draw: Draw, level: Level) -> Draft | None:
    """Ask how many requests of one length the room behind the weights holds."""
    serving = _serving(draw, several=level == "senior")
    lengths = [n for n in LENGTHS if n <= serving.model.max_sequence]
    length = draw.choice(lengths)
    answer = length // draw.choice(SHARES)
    case = Case(serving=serving, prompt=length - answer, answer=answer)
    right = serving.left // case.each if serving.left > 0 else 0
    if not FEWEST <= right <= MOST or not _is_clear(case, right):
        return None
    return Draft(
        prompt=render(
            "concurrent-requests",
            case=case,
            x=serving,
            heads=heads_said(serving.model.architecture),
        ),
        answer=CountAnswer(value=right, noun="requests"),
        hints=(
            "What do the weights leave, and what does one request take when it is at its end?",
            f"Room: {serving.room_said}; weights: {serving.weights_said}.",
            (
                f"A request: {thousands(serving.cache.per_token)} × {number(length)} tokens. "
                "Divide, and round down."
            ),
        ),
        solution=tuple(_request_steps(case, right)),
        mistakes=tuple(_request_mistakes(case)),
    )


def _is_clear(case: Case, right: int) -> bool:
    """Return whether rounding on paper leaves the number of requests as it is."""
    slack = case.serving.room // CLEAR
    few, many = (case.serving.left + off for off in (-slack, slack))
    return few // case.each == right == many // case.each


def _left_steps(serving: Serving) -> Iterator[Step]:
    yield Step(text=f"room: {serving.room_said}", depth="whiteboard")
    yield Step(text=f"weights: {serving.weights_said}", depth="whiteboard")
    yield Step(
        text=f"left: {serving.left_said}",
        depth="whiteboard",
    )
    yield Step(text=f"one token: {token_said(serving.cache)}", depth="whiteboard")


def _request_steps(case: Case, right: int) -> Iterator[Step]:
    x = case.serving
    yield from _left_steps(x)
    each = rounded(x.cache.per_token) * rounded(case.length)
    yield Step(
        text=f"a request: ({number(case.prompt)} + {number(case.answer)}) × "
        f"{thousands(x.cache.per_token)} = {paper(each)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"{paper(x.left)} / {paper(each)} = {x.left / each:.2f}, down to {right}",
        depth="whiteboard",
    )
    yield Step(text=f"left behind {gb(x.weights)} of weights: {gb(x.left)}")
    yield Step(text=f"a request: {gb(case.each)}")
    yield Step(text=f"With nothing rounded: {x.left / case.each:.2f}, and whole {right}")


def _request_mistakes(case: Case) -> Iterator[Mistake]:
    x, each = case.serving, case.each
    for name, other, why in x.others():
        yield _requests(name, other.left, each, why)
    yield _requests(
        "weights forgotten", x.room, each, f"leaves no room for the weights, {gb(x.weights)}."
    )
    yield _requests(
        "answer's tokens left out",
        x.left,
        x.cache.of(case.prompt),
        f"counts the prompts; each answer's {number(case.answer)} tokens are cached too.",
    )
    most = x.model.max_sequence
    if most > case.length:
        yield _requests(
            "the model's longest length",
            x.left,
            x.cache.of(most),
            f"gives each request the model's {number(most)} tokens; here each has "
            f"{number(case.length)}.",
        )
    for slip in slips(x.cache):
        wrong = each * slip.times
        off = gb(abs(wrong - each))
        yield _requests(
            slip.name, x.left, wrong, f"a request of {gb(wrong)} {slip.why.format(off=off)}", ": "
        )


def _requests(
    name: str, left: int, each: Fraction | int, why: str, between: str = ": that "
) -> Mistake:
    count = max(left, 0) // each
    noun = "request" if count == 1 else "requests"
    return Mistake(
        name=name, value=Fraction(count), feedback=f"{number(count)} {noun}{between}{why}"
    )


@kind_at_levels(
    name="longest-context-serving",
    topic="F",
    levels=("mid", "senior"),
    title="Longest context that fits when serving",
    sources=(
        "vLLM documentation, Conserving Memory",
        "arXiv 2305.13245 section 1",
    ),
)
def longest_context_serving(draw: Draw, level: Level) -> Draft | None:
    """Ask for the tokens that each of so many requests may have."""
    serving = _serving(draw, several=level == "senior")
    requests = draw.choice(REQUESTS)
    if serving.left <= 0:
        return None
    tokens = serving.left // (requests * serving.cache.per_token)
    if not SHORTEST <= tokens <= serving.model.max_sequence:
        return None
    if serving.left < LEAST * serving.room:
        return None
    return Draft(
        prompt=render(
            "longest-context-serving",
            x=serving,
            requests=requests,
            heads=heads_said(serving.model.architecture),
        ),
        answer=QuantityAnswer(value=Fraction(tokens), unit="1", default_unit=None),
        hints=(
            "What do the weights leave, and how many tokens is that?",
            f"Room: {serving.room_said}; weights: {serving.weights_said}.",
            (
                f"{thousands(serving.cache.per_token)} a token, and {requests} requests "
                "that share what is left alike."
            ),
        ),
        solution=tuple(_context_steps(serving, requests, tokens)),
        mistakes=tuple(_context_mistakes(serving, requests, tokens)),
    )


def _context_steps(x: Serving, requests: int, tokens: int) -> Iterator[Step]:
    yield from _left_steps(x)
    each = rounded(x.cache.per_token)
    about = rounded(x.left // (requests * each))
    yield Step(
        text=f"{short(Fraction(x.left, GB))} billion / ({requests} × {number(each)}) = about "
        f"{number(about)} tokens",
        depth="whiteboard",
    )
    yield Step(text=f"left behind {gb(x.weights)} of weights: {gb(x.left)}")
    yield Step(text=f"all requests together: {number(x.left // x.cache.per_token)} tokens")
    yield Step(text=f"With nothing rounded: {number(tokens)}")


def _context_mistakes(x: Serving, requests: int, tokens: int) -> Iterator[Mistake]:
    each = requests * x.cache.per_token
    for name, other, why in x.others():
        yield _tokens(name, Fraction(other.left, each), f"that {why}")
    yield _tokens(
        "weights forgotten",
        Fraction(x.room, each),
        f"that leaves no room for the weights, {gb(x.weights)}.",
    )
    yield _tokens(
        "all requests' tokens",
        Fraction(requests * tokens),
        f"that is what all {requests} have together; one of them is asked about.",
    )
    for slip in slips(x.cache):
        wrong = slip.times * x.cache.per_token
        off = kib(abs(wrong - x.cache.per_token))
        yield _tokens(
            slip.name, tokens / slip.times, f"a token of {kib(wrong)} {slip.why.format(off=off)}"
        )


def _tokens(name: str, value: Fraction, why: str) -> Mistake:
    return Mistake(name=name, value=value, feedback=f"{number(round(value))} tokens: {why}")
