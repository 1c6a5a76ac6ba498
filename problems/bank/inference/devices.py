"""Topic F, inference: how many cards weights and cache need."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.served import REQUESTS, heads_said, length_for, plain, thousands, token_said
from problems.serving import ROOMS, Load, Serving, any_card, cache_for, stored_for
from problems.wording import bare_gb, gb, number

FEWEST, MOST = 2, 64
# How near a number of cards may come to what is needed.
NEAR = Fraction(3, 100)
# What a cache is at least of the whole, and how many numbers of cards tell what was overlooked.
LEAST = Fraction(1, 10)
TELLING = 2


@kind(
    name="devices-to-serve",
    topic="F",
    level="mid",
    title="Cards that serve a model with its cache",
    sources=(
        "jax-ml/scaling-book applied-inference.md",
        "stas00/ml-engineering inference/README.md",
    ),
)
def devices_to_serve(draw: Draw) -> Draft | None:
    """Ask for the smallest power of two of cards that hold weights and cache."""
    load = _load(draw)
    x = load.serving
    cards = power_of_two(load.size, x.room)
    held, half = cards * x.room, cards // 2 * x.room
    clear = load.size < (1 - NEAR) * held and load.size > (1 + NEAR) * half
    if not FEWEST <= cards <= MOST or not clear or load.cached < LEAST * load.size:
        return None
    mistakes = tuple(_mistakes(load))
    if len({m.value for m in mistakes} - {cards}) < TELLING:
        return None
    return Draft(
        prompt=render("devices-to-serve", load=load, x=x, heads=heads_said(x.model.architecture)),
        answer=CountAnswer(value=cards, noun="GPUs"),
        hints=(
            "Add up weights and cache; what one card may hold comes last.",
            f"Weights: {x.weights_said}. One card: {x.room_said}.",
            (
                f"Cache: {thousands(x.cache.per_token)} × {load.requests} × {number(load.length)} "
                "tokens. Divide the sum by one card's room and go up to a power of two."
            ),
        ),
        solution=tuple(_steps(load, cards)),
        mistakes=mistakes,
    )


def power_of_two(size: Fraction | int, room: int) -> int:
    """Return the smallest power of two of cards that hold so many bytes; 1 at least."""
    return 1 << (ceil(Fraction(size) / room) - 1).bit_length()


def _load(draw: Draw) -> Load:
    gpu = any_card(draw)
    model = draw.choice(plain())
    serving = Serving(
        model=model,
        gpu=gpu,
        gpus=1,
        percent=draw.choice((*ROOMS, 100)),
        stored=stored_for(draw, gpu),
        cache=cache_for(draw, model, gpu),
    )
    return Load(serving=serving, requests=draw.choice(REQUESTS), length=length_for(draw, model))


def _steps(load: Load, cards: int) -> Iterator[Step]:
    x = load.serving
    yield Step(text=f"weights: {x.weights_said}", depth="whiteboard")
    yield Step(text=f"one token: {token_said(x.cache)}", depth="whiteboard")
    yield Step(text=f"cache: {load.cached_said}", depth="whiteboard")
    yield Step(text=f"one card: {x.room_said}", depth="whiteboard")
    total = x.weights + load.cached_on_paper
    yield Step(
        text=f"{bare_gb(total)} / {bare_gb(x.room)} = {float(total / x.room):.2f}, up to a power "
        f"of two {cards}",
        depth="whiteboard",
    )
    yield Step(text=f"weights {gb(x.weights)} and cache {gb(load.cached)}: {gb(load.size)}")
    yield Step(
        text=f"With nothing rounded: {load.size / x.room:.2f} cards, so the "
        f"power of two above is {cards}"
    )


def _mistakes(load: Load) -> Iterator[Mistake]:
    x, right = load.serving, load.size
    for name, size, why in load.others():
        off = gb(abs(size - right))
        yield _cards(name, power_of_two(size, x.room), f"{gb(size)} {why.format(off=off)}")
    yield _cards(
        "power of two forgotten",
        ceil(Fraction(right, x.room)),
        f"{gb(right)} would fit so many; a power of two is asked for.",
    )
    if x.percent < 100:
        yield _cards(
            "usable share forgotten",
            power_of_two(right, x.gpu.memory),
            f"each would be filled to its {gb(x.gpu.memory)}; {x.percent}% is {gb(x.room)}.",
        )
    yield _cards(
        "half of what it takes",
        power_of_two(right, x.room) // 2,
        f"they have less room than the {gb(right)} of weights and cache.",
    )


def _cards(name: str, cards: int, why: str) -> Mistake:
    noun = "GPU" if cards == 1 else "GPUs"
    return Mistake(name=name, value=Fraction(cards), feedback=f"{number(cards)} {noun}: {why}")
