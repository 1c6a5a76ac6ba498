"""Topic F, inference: does a model fit the cards that shall serve it?"""

from collections.abc import Iterator
from fractions import Fraction

from engine.architecture import Architecture
from engine.inference.stored import BF16, FP16
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.scenarios import any_model
from problems.served import (
    REQUESTS,
    and_units,
    heads_said,
    length_for,
    plain,
    thousands,
    token_said,
)
from problems.serving import ROOMS, Load, Serving, any_card, cache_for, stored_for
from problems.wording import bare_gb, gb, number, paper
from problems.wrong_sizes import wrong_size

CARDS = (1, 1, 2, 3, 4, 6, 8)
# Percent of the room between which a model is drawn, and how near to it is no clear answer.
LOW, HIGH = 25, 400
NEAR = Fraction(6, 100)
# A cache that is less of the whole than this is no part of the question.
LEAST = Fraction(1, 10)
ATTEMPTS = 100


@kind_at_levels(
    name="serve-fits",
    topic="F",
    levels=("junior", "mid"),
    title="Does the model fit the cards that serve it?",
    sources=(
        "wdndev/llm_interview_note, distributed training",
        "stas00/ml-engineering inference/README.md",
    ),
)
def serve_fits(draw: Draw, level: Level) -> Draft | None:
    """Ask whether weights, or weights and cache, fit; as many do as do not."""
    wanted = draw.chance(50)
    tried = (_case(draw, level) for _ in range(ATTEMPTS))
    case = next((x for x in tried if _fits(x) == wanted and _is_clear(x)), None)
    if case is None:
        return None
    return Draft(
        prompt=render("serve-fits", case=case, x=case.serving, heads=heads_said(_shape(case))),
        answer=YesNoAnswer(value=_fits(case), proof=QuantityAnswer(value=Fraction(case.size))),
        hints=_hints(case),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _is_clear(case: Load) -> bool:
    """Return whether weights and cache both count and are not next to the room."""
    share = Fraction(case.size, case.serving.room)
    if case.requests and not LEAST < Fraction(case.cached, case.size) < 1 - LEAST:
        return False
    return abs(share - 1) > NEAR and LOW <= 100 * share <= HIGH


def _fits(case: Load) -> bool:
    return case.size <= case.serving.room


def _shape(case: Load) -> Architecture:
    return case.serving.model.architecture


def _case(draw: Draw, level: Level) -> Load:
    gpu = any_card(draw)
    model = any_model(draw) if level == "junior" else draw.choice(plain())
    stored = stored_for(draw, gpu)
    if level == "junior" and stored is BF16:
        stored = draw.choice((BF16, FP16))
    serving = Serving(
        model=model,
        gpu=gpu,
        gpus=draw.choice(CARDS),
        percent=draw.choice((100, *ROOMS) if level == "junior" else ROOMS),
        stored=stored,
        cache=cache_for(draw, model, gpu),
    )
    requests = 0 if level == "junior" else draw.choice(REQUESTS)
    return Load(serving=serving, requests=requests, length=length_for(draw, model))


def _hints(case: Load) -> tuple[str, str, str]:
    x = case.serving
    room = f"There are {gb(x.room)}; a MiB is 2^20 bytes."
    if not case.requests:
        return (
            "Every weight has to be on a card; how many bytes does one take?",
            f"Parameters times bytes, and nothing of a training run beside them. {room}",
            f"{x.weights_said.partition(' × ')[0]} weights in {x.stored_said}. {room}",
        )
    return (
        "Two things: weights, once, and a cache that grows with every token of every request.",
        f"Weights: {x.weights_said}. {room}",
        (
            f"Cache: {thousands(x.cache.per_token)} a token × {case.requests} × "
            f"{number(case.length)} tokens. {room}"
        ),
    )


def _steps(case: Load) -> Iterator[Step]:
    x = case.serving
    yield Step(text=f"room: {x.room_said}", depth="whiteboard")
    yield Step(text=f"weights: {x.weights_said}", depth="whiteboard")
    if case.requests:
        yield Step(text=f"one token: {token_said(x.cache)}", depth="whiteboard")
        yield Step(text=f"cache: {case.cached_said}", depth="whiteboard")
        total = x.weights + case.cached_on_paper
        yield Step(
            text=f"{bare_gb(x.weights)} + {bare_gb(case.cached_on_paper)} = {paper(total)}",
            depth="whiteboard",
        )
        yield Step(text=f"cache: {gb(case.cached)}")
    yield Step(text=f"weights: {number(x.model.parameters)} parameters, {gb(x.weights)}")
    verdict, side = ("yes", "below") if _fits(case) else ("no", "above")
    yield Step(text=f"{verdict}: it is {side} the {gb(x.room)} of {x.cards}")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _mistakes(case: Load) -> Iterator[Mistake]:
    right = case.size
    for name, size, why in case.others():
        yield wrong_size(size, right, name, why)
    if not case.requests:
        yield wrong_size(
            16 * case.serving.model.parameters,
            right,
            "training's states counted",
            "is the 16 bytes a parameter of a training run; serving keeps weights alone, so "
            "{off} are too many.",
        )
