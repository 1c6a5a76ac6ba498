"""Topic F, inference: the cache of keys and values, worked out with one wrong step."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import accelerators
from engine.inference.weights import weights
from engine.units import GB, GIB, count
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level
from problems.repairs import repair
from problems.wording import bytes_of, card, number
from problems.worked import Line, Worked, WrongLine, times

LENGTHS = (2**10, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
PERCENTS = (80, 85, 90, 95)
WIDTHS = {1: "8 bits", 2: "16 bits"}
MOST_SEQUENCES = 64


@dataclass(frozen=True, kw_only=True)
class Served:
    """A model that is served.

    Args:
        shape: the model, with key-value heads in every layer.
        width: bytes of an element of the cache; weights have two.
        sequences: at once.
        length: tokens of each.
        gpu: the card.
        percent: of it that may be used.
    """

    shape: Architecture
    width: int
    sequences: int
    length: int
    gpu: Accelerator
    percent: int


@kind_at_levels(
    name="repair-cache",
    topic="F",
    levels=("junior", "mid", "senior"),
    title="The first wrong step of a KV cache",
    sources=(
        "harvard-edge/cs249r_book StaffML, cloud/01_compute_and_memory.md",
        "22.frenchintelligence.org/?p=180842",
        "vllm-project/vllm#22291",
        "ray-project/llm-numbers#25",
    ),
)
def repair_cache(draw: Draw, level: Level) -> Draft | None:
    """Ask for the first wrong step of what keys and values take, or how many tokens fit."""
    model, width = scenarios.any_model(draw), draw.choice((1, 2, 2))
    a = model.architecture
    served = Served(
        shape=a,
        width=width,
        sequences=draw.between(2, MOST_SEQUENCES),
        length=draw.choice(LENGTHS),
        gpu=draw.choice(tuple(accelerators().values())),
        percent=draw.choice(PERCENTS),
    )
    if a.latent is not None or a.window or served.length > model.max_sequence:
        return None
    about = (
        f"{model.title}: {a.layers} layers of h = {number(a.hidden)} with {a.heads} query heads "
        f"and {a.kv_heads} key-value heads of {a.head_dim} elements. Keys and values are kept in "
        f"{WIDTHS[width]}."
    )
    if level == "senior":
        if left(served) < 0:
            return None
        about += (
            f" Its {number(a.parameters)} parameters are served in 16 bits on one "
            f"{card(served.gpu)}, whose driver reports {number(served.gpu.memory_mib)} MiB; "
            f"{served.percent}% may be used, and weights and cache are all that counts. Somebody "
            "works out how many tokens fit."
        )
        return repair(draw, about, tokens_that_fit(served), (*_fit_wrongs(served),))
    many = level == "mid"
    of = f"{served.sequences} sequences" if many else "one sequence"
    about += f" Somebody works out the cache of {of} of {number(served.length)} tokens."
    return repair(draw, about, cached(served, many=many), (*_cache_wrongs(served, many=many),))


def cached(served: Served, *, many: bool) -> Worked:
    """Return the cache of one sequence, or of all of them and that in GiB."""
    lines = (*_token(served), _sequence(served))
    return Worked(lines=(*lines, _batch(served), _in_gib()) if many else lines)


def tokens_that_fit(served: Served) -> Worked:
    """Return how many tokens fit beside the weights."""
    return Worked(lines=(*_token(served), *_room(served)))


def left(served: Served) -> Fraction:
    """Return the bytes that the weights leave of the card."""
    return Fraction(served.gpu.memory * served.percent, 100) - weights(served.shape)


def _token(served: Served) -> Iterator[Line]:
    """Yield the lines up to the bytes of a token."""
    a = served.shape
    yield Line(
        key="width",
        says=f"keys of a token and layer: {a.kv_heads} heads × {a.head_dim}",
        of=lambda _: a.kv_width,
        form="count",
        noun="elements",
    )
    yield Line(
        key="layer",
        says=f"keys and values of a layer: 2 × {{width}} × {bytes_of(served.width)}",
        of=lambda values: 2 * values["width"] * served.width,
        form="each",
        noun="bytes a token",
    )
    yield Line(
        key="token",
        says=f"a token: {a.layers} layers × {{layer}} bytes",
        of=lambda values: a.layers * values["layer"],
    )


def _sequence(served: Served) -> Line:
    return Line(
        key="sequence",
        says=f"a sequence: {number(served.length)} tokens × {{token}}",
        of=lambda values: served.length * values["token"],
    )


def _batch(served: Served) -> Line:
    return Line(
        key="batch",
        says=f"all sequences: {served.sequences} × {{sequence}}",
        of=lambda values: served.sequences * values["sequence"],
    )


def _in_gib() -> Line:
    return Line(
        key="gib",
        says="in GiB of 2^30 bytes: {batch}",
        of=lambda values: values["batch"],
        form="GiB",
    )


def _room(served: Served) -> Iterator[Line]:
    """Yield the lines from the card to the tokens that fit."""
    size, parameters = weights(served.shape), served.shape.parameters
    yield Line(
        key="weights",
        says=f"weights: 2 bytes × {count(parameters)} parameters",
        of=lambda _: size,
    )
    yield Line(
        key="left",
        says=f"left of the card: {served.percent}% of {number(served.gpu.memory_mib)} MiB "
        "- {weights}",
        of=lambda values: Fraction(served.gpu.memory * served.percent, 100) - values["weights"],
    )
    yield Line(
        key="tokens",
        says="tokens that fit: {left} / {token}",
        of=lambda values: values["left"] // values["token"],
        form="count",
        noun="tokens",
    )


def _token_wrongs(served: Served) -> Iterator[WrongLine]:
    a, (width, layer, token) = served.shape, tuple(_token(served))
    heads = "Which heads have keys and values, and how wide are they?"
    yield width.wrong(
        "grouped heads forgotten",
        f"keys of a token and layer: {a.heads} heads × {a.head_dim}",
        lambda _: a.query_width,
        why=f"counts the {a.heads} query heads; {a.kv_heads} heads have keys, {{off}} fewer.",
        nudge=heads,
    )
    yield width.wrong(
        "one head for all",
        f"keys of a token and layer: {a.head_dim}",
        lambda _: a.head_dim,
        why=f"is one head; {a.kv_heads} heads have keys, {{off}} more.",
        nudge=heads,
    )
    yield width.wrong(
        "hidden size for the heads' width",
        f"keys of a token and layer: {number(a.hidden)}",
        lambda _: a.hidden,
        why=f"is the hidden size; keys have {a.kv_heads} heads of {a.head_dim}, {{off}} fewer.",
        nudge=heads,
    )
    yield width.wrong(
        "values counted twice",
        f"keys of a token and layer: 2 × {a.kv_heads} heads × {a.head_dim}",
        lambda _: 2 * a.kv_width,
        why="counts the values here, which the next step counts again, {off} too many.",
        nudge=heads,
    )
    yield from _layer_wrongs(served, layer)
    yield token.wrong(
        "one layer for all",
        "a token: {layer} bytes",
        lambda values: values["layer"],
        why=f"is one layer; each of {a.layers} keeps its own, {{off}} more.",
        nudge="Which layers keep keys and values?",
    )


def _layer_wrongs(served: Served, layer: Line) -> Iterator[WrongLine]:
    nudge = "What does a layer keep for a token, and how many bytes has an element?"
    for name, factor, says, why in (
        ("keys or values alone", served.width, f"{{width}} × {bytes_of(served.width)}",
         "is the keys alone; the values are as many, {off} more"),
        ("bits for bytes", 16 * served.width, f"2 × {{width}} × {8 * served.width}",
         "takes bits for bytes; a byte has eight, {off} less"),
        ("elements taken for bytes", 2, "2 × {width}", "counts elements, {off} fewer than bytes"),
        ("cache in 32 bits", 8, "2 × {width} × 4 bytes",
         f"has the cache in 32 bits; it is kept in {WIDTHS[served.width]}, {{off}} less"),
    ):  # fmt: skip
        yield layer.wrong(
            name,
            f"keys and values of a layer: {says}",
            times("width", factor),
            why=f"{why}.",
            nudge=nudge,
        )


def _cache_wrongs(served: Served, *, many: bool) -> Iterator[WrongLine]:
    yield from _token_wrongs(served)
    if not many:
        return
    ratio = Fraction(GIB, GB)
    yield _batch(served).wrong(
        "one request for all",
        "all sequences: {sequence}",
        lambda values: values["sequence"],
        why=f"is one sequence; {served.sequences} have a cache of their own, {{off}} more.",
        nudge="Whose keys and values are these?",
    )
    yield _in_gib().wrong(
        "GB typed as GiB",
        _in_gib().says,
        lambda values: values["batch"] * ratio,
        why="is too many: a GiB is 7.4% more than a GB, so there are {off} fewer.",
        nudge="Which is the larger unit, a GB or a GiB?",
    )


def _fit_wrongs(served: Served) -> Iterator[WrongLine]:
    yield from _token_wrongs(served)
    size, room, _ = _room(served)
    memory, parameters = served.gpu.memory, served.shape.parameters
    mib, share = number(served.gpu.memory_mib), Fraction(served.percent, 100)
    yield size.wrong(
        "elements taken for bytes",
        f"weights: {count(parameters)} parameters",
        lambda _: parameters,
        why="counts parameters; in 16 bits each has two bytes, {off} more.",
        nudge="How many bytes has a parameter?",
    )
    nudge = "What of the card may be used, and what is in it beside the cache?"
    yield room.wrong(
        "usable share forgotten",
        f"left of the card: {mib} MiB - {{weights}}",
        lambda values: memory - values["weights"],
        why=f"fills the card; {served.percent}% may be used, {{off}} less.",
        nudge=nudge,
    )
    yield room.wrong(
        "weights forgotten",
        f"left of the card: {served.percent}% of {mib} MiB",
        lambda _: memory * share,
        why="leaves the weights out, so {off} less is there for the cache.",
        nudge=nudge,
    )
    yield room.wrong(
        "activations as a share of the weights",
        f"left of the card: {served.percent}% of {mib} MiB - {{weights}} - 25% of them",
        lambda values: memory * share - Fraction(5, 4) * values["weights"],
        why="takes off a quarter of the weights for activations; only weights and cache count "
        "here, so {off} more is left.",
        nudge=nudge,
    )
