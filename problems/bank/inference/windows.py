"""Topic F, inference: layers that keep a window of the tokens alone."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import TB
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.served import (
    and_units,
    elements_said,
    mistaken,
    slips,
    thousands,
)
from problems.windowed import Windowed, windowed
from problems.wording import gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

MOST = 2 * TB


@kind(
    name="cache-with-windows",
    topic="F",
    level="senior",
    title="KV cache of a model with windows",
    sources=(
        "arXiv 2408.00118 section 2",
        "arXiv 2310.06825 section 2",
        "Transformers, cache_utils.py: StaticSlidingWindowLayer",
    ),
)
def cache_with_windows(draw: Draw) -> Draft | None:
    """Ask for the cache where some layers keep a window, or all of them."""
    case = windowed(draw)
    if case is None or case.size > MOST:
        return None
    full, capped = case.tokens()
    return Draft(
        prompt=render("cache-with-windows", case=case, full=case.cache.full_layers),
        answer=QuantityAnswer(value=Fraction(case.size)),
        hints=(
            "Count layers times tokens: not every layer keeps every token.",
            (
                f"A windowed layer keeps the last {number(case.window)} tokens and lets "
                "go of the others."
            ),
            (
                f"Layers × tokens: {_layers_said(case)} = {number(full + capped)}; each "
                f"of them takes {number(case.cache.per_layer)} bytes."
            ),
        ),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), case.size),
    )


def _layers_said(case: Windowed) -> str:
    parts = (
        (case.cache.full_layers, case.length),
        (case.cache.windowed_layers, case.window),
    )
    return " + ".join(f"{count} × {number(tokens)}" for count, tokens in parts if count)


def _steps(case: Windowed) -> Iterator[Step]:
    each, kept = case.cache.per_layer, sum(case.tokens())
    yield Step(
        text=f"one token in one layer: {elements_said(case.cache, 1)} elements, "
        f"{number(each)} bytes",
        depth="whiteboard",
    )
    yield Step(
        text=f"a request, layers × tokens: {_layers_said(case)}, about {number(rounded(kept))}",
        depth="whiteboard",
    )
    product = case.requests * rounded(kept) * rounded(each)
    requests = f"{case.requests} × " if case.requests > 1 else ""
    yield Step(
        text=f"{requests}{number(rounded(kept))} × {thousands(each)} = {paper(product, digits=4)}",
        depth="whiteboard",
    )
    yield Step(text=f"a request: {gb(case.cache.of(case.length))}")
    all_kept = case.alike().of_batch(case.requests, case.length)
    yield Step(text=f"were every token kept in every layer: {gb(all_kept)}")
    yield Step(text=f"With nothing rounded: exactly {gb(case.size)}")


def _mistakes(case: Windowed) -> Iterator[Mistake]:
    right, cache, n = case.size, case.cache, case.requests
    yield wrong_size(
        case.alike().of_batch(n, case.length),
        right,
        "windows forgotten",
        f"keeps every token in every layer; {cache.windowed_layers} layers keep "
        f"{number(case.window)}, so {{off}} are too many.",
    )
    full, _capped = (part * cache.per_layer * n for part in case.tokens())
    if full:
        yield wrong_size(
            full,
            right,
            "windowed layers left out",
            "is the layers that keep every token; the windows of the others take {off}.",
        )
        yield wrong_size(
            case.window * cache.per_token * n,
            right,
            "every layer windowed",
            f"has the window in all {case.a.layers} layers; {cache.full_layers} keep every token, "
            "{off} more.",
        )
        yield wrong_size(
            case.window * cache.per_late_token * n
            + case.length * cache.windowed_layers * cache.per_layer * n,
            right,
            "layers exchanged",
            f"has the window in the {cache.full_layers} layers without one: {{off}} off.",
        )
    if n > 1:
        yield wrong_size(
            Fraction(right, n),
            right,
            "one request for all",
            f"is one request; there are {n}, {{off}} more.",
        )
    for slip in slips(cache):
        yield mistaken(slip, right)
