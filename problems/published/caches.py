"""Published answers about serving that went wrong."""

from fractions import Fraction

from engine.architecture import Architecture
from engine.units import GB, GIB, KB, count
from problems import scenarios
from problems.draw import Draw
from problems.published.case import Make, Published
from problems.wording import number
from problems.worked import Line, Worked, WrongLine, times

THOUSANDS = (2, 128)  # of tokens of a request
CARDS = (24, 40, 48, 80, 96, 141, 192)
HEADS = "Which heads have keys and values, and how wide are they?"


def _grouped(draw: Draw) -> tuple[str, Architecture] | None:
    """Return a model with fewer heads for keys and values than for queries, and its name."""
    model = scenarios.any_model(draw)
    a = model.architecture
    if a.latent is not None or a.window or a.kv_heads >= a.heads:
        return None
    said = (
        f"{model.title}: {a.layers} layers of h = {number(a.hidden)}, {a.heads} query heads, "
        f"{a.kv_heads} key-value heads of {a.head_dim} elements; keys and values in 16 bits."
    )
    return said, a


def _length(draw: Draw) -> int:
    """Return the tokens of a request, as contexts are said: 128k."""
    return KB * draw.between(*THOUSANDS)


def _width(a: Architecture) -> Line:
    return Line(
        key="width",
        says=f"keys of a token and layer: {a.kv_heads} × {a.head_dim}",
        of=lambda _: a.kv_width,
        form="count",
        noun="elements",
    )


def _token(a: Architecture) -> Line:
    return Line(
        key="token",
        says=f"a token: 2 × {{width}} × {a.layers} layers × 2 bytes",
        of=times("width", 4 * a.layers),
    )


def _all_heads(a: Architecture) -> WrongLine:
    return _width(a).wrong(
        "grouped heads forgotten",
        f"keys of a token and layer: {a.heads} × {a.head_dim}",
        lambda _: a.query_width,
        why=f"counts the {a.heads} query heads; {a.kv_heads} heads have keys, {{off}} fewer.",
        nudge=HEADS,
    )


def _hidden(a: Architecture) -> WrongLine:
    return _width(a).wrong(
        "hidden size for the heads' width",
        f"keys of a token and layer: {number(a.hidden)}",
        lambda _: a.hidden,
        why=f"is the hidden size; keys have {a.kv_heads} heads of {a.head_dim}, {{off}} fewer.",
        nudge=HEADS,
    )


def _one_head(a: Architecture) -> WrongLine:
    return _width(a).wrong(
        "one head for all",
        f"keys of a token and layer: {a.head_dim}",
        lambda _: a.head_dim,
        why=f"is one head; {a.kv_heads} heads have keys, {{off}} more.",
        nudge=HEADS,
    )


def _sequence(length: int) -> Line:
    says = f"a request: {number(length)} tokens × {{token}}"
    return Line(key="request", says=says, of=times("token", length))


def request_of_all_heads(draw: Draw) -> Published | None:
    """335 GB for a request of 128k tokens."""
    drawn, length = _grouped(draw), _length(draw)
    if drawn is None:
        return None
    said, a = drawn
    return Published(
        source="harvard-edge/cs249r_book StaffML, cloud/01_compute_and_memory.md",
        about=f"{said} One request has {number(length)} tokens.",
        worked=Worked(lines=(_width(a), _token(a), _sequence(length))),
        wrong=_all_heads(a),
        others=(_one_head(a),),
        told="335 GB was said for 128k tokens of Llama 70B, with 64 heads; 8 have keys: 41.9 GB",
    )


def hidden_size(draw: Draw) -> Published | None:
    """1.53 MiB a token where the configuration gives 56 KiB."""
    drawn, length = _grouped(draw), _length(draw)
    if drawn is None:
        return None
    said, a = drawn
    bits = _token(a).wrong(
        "bits for bytes",
        f"a token: 2 × {{width}} × {a.layers} layers × 16",
        times("width", 32 * a.layers),
        why="takes 16 bits for 16 bytes; they are two, {off} less.",
        nudge="How many bytes are 16 bits?",
    )
    wrong = draw.choice((_hidden(a), bits))
    return Published(
        source="vllm-project/vllm#22291",
        about=f"{said} One request has {number(length)} tokens.",
        worked=Worked(lines=(_width(a), _token(a), _sequence(length))),
        wrong=wrong,
        others=(_one_head(a), _hidden(a), bits),
        told="1.53 MiB a token was said for 28 layers of width 3,584, with hidden size and bits; "
        "4 heads of 128 in 2 bytes are 56 KiB",
    )


def _beside_weights(a: Architecture, gb: int, reserved: int) -> tuple[Line, ...]:
    weights = 2 * a.parameters
    return (
        _width(a),
        _token(a),
        Line(
            key="weights",
            says=f"weights: 2 bytes × {count(a.parameters)} parameters",
            of=lambda _: weights,
        ),
        Line(
            key="left",
            says=f"left for the cache: {gb} GB - {reserved} GB - {{weights}}",
            of=lambda values: (gb - reserved) * GB - values["weights"],
        ),
        Line(
            key="tokens",
            says="tokens that fit: {left} / {token}",
            of=lambda values: values["left"] // values["token"],
            form="count",
            noun="tokens",
        ),
    )


def tokens_beside_weights(draw: Draw) -> Published | None:
    """6,500 tokens beside the weights where 51,900 fit."""
    drawn, gb = _grouped(draw), draw.choice(CARDS)
    if drawn is None:
        return None
    said, a = drawn
    reserved = draw.between(2, 12)
    weights = 2 * a.parameters
    if gb * GB - weights - reserved * GB < GB:
        return None
    lines = _beside_weights(a, gb, reserved)
    quarter = lines[3].wrong(
        "activations as a share of the weights",
        f"left for the cache: {gb} GB - {{weights}} - 25% of them",
        lambda values: gb * GB - Fraction(5, 4) * values["weights"],
        why=f"takes a quarter of the weights for activations; here all else is {reserved} GB.",
        nudge="What is in the card beside the cache?",
    )
    return Published(
        source="22.frenchintelligence.org/?p=180842",
        about=f"{said} Its weights are in 16 bits on one card of {gb} GB, of which all else takes "
        f"{reserved} GB.",
        worked=Worked(lines=lines),
        wrong=draw.choice((_all_heads(a), quarter)),
        others=(_one_head(a),),
        told="2.6 MB a token and 25% of the weights for activations left 6,500 tokens of a 70B "
        "model on 192 GB; 8 of 64 heads have keys, 0.328 MB a token, and 17 GB hold 51,900",
    )


def a_megabyte_a_token(draw: Draw) -> Published | None:
    """Roughly 1 MB of memory for a token, whatever the model."""
    drawn, length = _grouped(draw), _length(draw)
    if drawn is None:
        return None
    said, a = drawn
    return Published(
        source="ray-project/llm-numbers#25",
        about=f"{said} One request has {number(length)} tokens.",
        worked=Worked(lines=(_width(a), _token(a), _sequence(length))),
        wrong=_token(a).wrong(
            "a rule of another model",
            "a token: by the rule of thumb",
            lambda _: 10**6,
            why="is a rule from models of 13B with a key for every query head; this one has "
            f"{a.kv_heads} of {a.heads}, {{off}} less.",
            nudge="Of which model is such a rule of thumb?",
        ),
        told="1 MB a token holds for a 13B model without groups, 0.82 MB; with them it is 3 to 8 "
        "times too high",
    )


def gb_printed_as_gib(draw: Draw) -> Published | None:
    """133.2 GiB of weights and cache that are GB."""
    drawn, length = _grouped(draw), _length(draw)
    if drawn is None:
        return None
    (said, a), rows = drawn, draw.between(2, 64)
    total = Line(
        key="total",
        says=f"with the weights: {{requests}} + 2 bytes × {count(a.parameters)}",
        of=lambda values: values["requests"] + 2 * a.parameters,
    )
    gib = Line(key="gib", says="in GiB of 2^30 bytes: {total}", of=times("total", 1), form="GiB")
    requests = Line(
        key="requests", says=f"{rows} requests: {rows} × {{request}}", of=times("request", rows)
    )
    return Published(
        source="jax-ml/scaling-book, inference.md",
        about=f"{said} {rows} requests of {number(length)} tokens are served, weights in 16 bits.",
        worked=Worked(lines=(_width(a), _token(a), _sequence(length), requests, total, gib)),
        wrong=gib.wrong(
            "GB typed as GiB",
            gib.says,
            times("total", Fraction(GIB, GB)),
            why="is the number of GB; a GiB is 7.4% more, so there are {off} fewer.",
            nudge="Which is the larger unit, a GB or a GiB?",
        ),
        told="133.2 GiB was printed for a 13B model and 16 requests of 8,192 tokens; that is GB",
    )


def _shared(a: Architecture, cards: int, each: int) -> tuple[Line, ...]:
    weights = 2 * a.parameters
    left = Line(
        key="left",
        says="left for the cache: {cards} - {weights}",
        of=lambda values: values["cards"] - values["weights"],
    )
    return (
        Line(
            key="cards",
            says=f"memory: {cards} cards × {each} GB",
            of=lambda _: cards * each * GB,
        ),
        Line(
            key="weights",
            says=f"weights: 2 bytes × {count(a.parameters)} parameters",
            of=lambda _: weights,
        ),
        left,
        Line(
            key="tokens",
            says=f"tokens that fit: {{left}} / {number(4 * a.kv_width * a.layers)} bytes a token",
            of=lambda values: values["left"] // (4 * a.kv_width * a.layers),
            form="count",
            noun="tokens",
        ),
    )


def ten_too_many(draw: Draw) -> Published | None:
    """128 - 70 = 68 GB, so 52 sequences where 43 fit."""
    drawn = _grouped(draw)
    if drawn is None:
        return None
    (said, a), each = drawn, draw.choice((16, 24, 32))
    weights = 2 * a.parameters
    cards = max(2, -(-3 * weights // (2 * each * GB)))
    lines = _shared(a, cards, each)
    left = lines[2]
    return Published(
        source="jax-ml/scaling-book, applied-inference.md",
        about=f"{said} Its weights, in 16 bits, and the cache share {cards} cards of {each} GB.",
        worked=Worked(lines=lines),
        wrong=left.wrong(
            "ten too many",
            left.says,
            lambda values: values["cards"] - values["weights"] + 10 * GB,
            why="is a slip of subtraction, {off} too many.",
            nudge="Work each sum out once more, figure by figure.",
        ),
        told="128 - 70 was printed as 68, and 52 sequences; 58 GB are left, for 43",
    )


CASES: tuple[Make, ...] = (
    request_of_all_heads,
    hidden_size,
    tokens_beside_weights,
    a_megabyte_a_token,
    gb_printed_as_gib,
    ten_too_many,
)
