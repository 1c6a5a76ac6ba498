"""Topic F, inference: what a serving engine's log says of a model's windows."""

from collections.abc import Iterator
from fractions import Fraction

from engine.inference.cache import KVCache
from engine.units import GIB
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.served import and_thousands, elements_said, kib, mistaken, slips
from problems.windowed import Windowed, windowed
from problems.wording import number, rounded

# Tenths of a GiB that a log's cache has, and tokens that it holds at least.
POOLS = (20, 600)
TENTH = GIB // 10
SHORTEST = 1000
BLOCK = 16
# Percent of a token that full layers take at most: with more the two readings are alike.
ALIKE = 90


@kind(
    name="windows-in-log",
    topic="F",
    level="senior",
    title="Does an engine use the windows?",
    sources=(
        "vllm-project/vllm docs/design/hybrid_kv_cache_manager.md",
        "alvarobartt/hf-mem#60",
    ),
)
def windows_in_log(draw: Draw) -> Draft | None:
    """Ask whether the tokens of a log go with layers that all keep every token."""
    capped = draw.chance(50)
    case = windowed(draw)
    if case is None or not case.cache.full_layers:
        return None
    size = draw.between(*POOLS) * TENTH
    cache = case.cache if capped else case.alike()
    tokens = _tokens_of(cache, case, size)
    if tokens < SHORTEST or 100 * case.cache.per_late_token > ALIKE * case.cache.per_token:
        return None
    each = case.cache.per_late_token if capped else case.cache.per_token
    return Draft(
        prompt=render("windows-in-log", case=case, full=case.cache.full_layers),
        exhibit=_log(case, size, tokens),
        answer=YesNoAnswer(
            value=capped, proof=QuantityAnswer(value=Fraction(each), default_unit="KiB")
        ),
        hints=(
            "Divide the cache by its tokens: what does one of them take?",
            (
                f"A layer takes {number(case.cache.per_layer)} bytes for a token. With how many "
                "layers do the log's numbers agree?"
            ),
            (
                f"All are {case.a.layers} × {number(case.cache.per_layer)} bytes, those without "
                f"a window {case.cache.full_layers} × as much as one."
            ),
        ),
        solution=tuple(_log_steps(case, size, tokens, capped=capped)),
        mistakes=tuple(_log_mistakes(case, each, capped=capped)),
    )


def _tokens_of(cache: KVCache, case: Windowed, size: int) -> int:
    """Return the tokens that a pool holds, windows left out of it where the engine uses them."""
    each = cache.per_late_token if cache.windowed_layers else case.cache.per_token
    return size // each // BLOCK * BLOCK


def _log(case: Windowed, size: int, tokens: int) -> str:
    return "\n".join(
        (
            f"INFO   cache    {case.cache.stored.name}, {size / GIB:.2f} GiB for keys and values",
            f"INFO   cache    room for {tokens} tokens of long requests",
            "INFO   startup  ready",
        )
    )


def _log_steps(case: Windowed, size: int, tokens: int, *, capped: bool) -> Iterator[Step]:
    cache, each = case.cache, Fraction(size, tokens)
    yield Step(
        text=f"one token in one layer: {elements_said(cache, 1)} elements, "
        f"{number(cache.per_layer)} bytes",
        depth="whiteboard",
    )
    for name, layers, one in (
        ("all layers", case.a.layers, cache.per_token),
        ("those without a window", cache.full_layers, cache.per_late_token),
    ):
        yield Step(
            text=f"{name}: {layers} × {kib(cache.per_layer)} = {kib(one)}", depth="whiteboard"
        )
    yield Step(
        text=f"the log: {size / GIB:.2f} GiB / {number(rounded(tokens))} tokens = {kib(each)}",
        depth="whiteboard",
    )
    verdict, which = ("yes", "layers without a window alone") if capped else ("no", "all layers")
    yield Step(text=f"{verdict}: the log's tokens are those of {which}")
    right = cache.per_late_token if capped else cache.per_token
    yield Step(text=f"The rest of the difference is whole blocks and rounding: {kib(right)}")


def _log_mistakes(case: Windowed, each: int, *, capped: bool) -> Iterator[Mistake]:
    cache = case.cache
    if capped:
        other, name = cache.per_token, "windows forgotten"
        why = f"is a token in all {case.a.layers} layers; then the log would have fewer tokens."
    else:
        other, name = cache.per_late_token, "windowed layers left out"
        why = f"is the {cache.full_layers} layers without a window; then the log would have more "
        why += "tokens."
    yield Mistake(name=name, value=Fraction(other), feedback=f"{kib(other)} {why}")
    for slip in slips(cache):
        yield mistaken(slip, each, said=kib)
    yield from and_thousands(each)
