"""Topic A, model states: how many parameters a shape has."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.architecture import Architecture
from engine.units import count
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.wording import number

# hidden, head sizes, layers from and to: the range in which published decoders lie.
SHAPES = (
    (1280, (64, 80), 20, 36),
    (1536, (64, 128), 24, 30),
    (2048, (64, 128), 16, 28),
    (2560, (64, 80, 128), 28, 36),
    (3072, (96, 128), 26, 34),
    (4096, (128,), 28, 40),
    (5120, (128,), 36, 48),
    (6144, (96, 128), 40, 56),
    (7168, (112, 128), 48, 64),
    (8192, (128,), 60, 84),
    (12288, (128,), 80, 100),
)
VOCABULARIES = (
    *(32000, 49152, 50304, 64000, 65536, 100352, 128256, 131072, 151936, 152064, 200064, 256000),
)
GATED_WIDTHS = (Fraction(8, 3), Fraction(3), Fraction(7, 2), Fraction(4), Fraction(11, 2))
POSITIONS = (1024, 1536, 2048, 3072, 4096)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The parameters of a decoder in the parts that one adds up on paper."""

    attention: int
    mlp: int
    layers: int
    ends: int
    total: int

    @property
    def on_paper(self) -> int:
        """The matrices alone."""
        return self.layers * (self.attention + self.mlp) + self.ends

    @property
    def rest(self) -> int:
        """Norms, biases and positions."""
        return self.total - self.on_paper


@kind_at_levels(
    name="parameter-count",
    topic="A",
    levels=("junior", "mid"),
    title="Parameters of a decoder, given its sizes",
    sources=("huggingface/transformers, the classes' parameters on the meta device",),
)
def parameter_count(draw: Draw, level: Level) -> Draft | None:
    """Ask for the number of parameters of a shape that nobody has published under a name.

    At junior level keys and values are as wide as queries, and no layer has a bias.
    """
    shape = _plain(draw) if level == "junior" else _any_shape(draw)
    if level != "junior" and _is_plain(shape):
        return None
    blocks = _blocks(shape)
    return Draft(
        prompt=render("parameter-count", shape=shape),
        answer=QuantityAnswer(
            value=Fraction(blocks.total),
            unit="1",
            default_unit=None,
            symbols={
                "L": shape.layers,
                "h": shape.hidden,
                "a": shape.heads,
                "k": shape.kv_heads,
                "d": shape.head_dim,
                "f": shape.ffn,
                "V": shape.vocab,
            },
        ),
        hints=_hints(shape, blocks),
        solution=tuple(_steps(shape, blocks)),
        mistakes=tuple(_mistakes(shape, blocks.total)),
    )


def _plain(draw: Draw) -> Architecture:
    return draw.unlike(lambda: replace(_llama_like(draw), kv_heads=0, qkv_bias=False))


def _is_plain(shape: Architecture) -> bool:
    return shape.kv_heads == shape.heads and not shape.qkv_bias


def _any_shape(draw: Draw) -> Architecture:
    return _llama_like(draw) if draw.chance(70) else _gpt_like(draw)


def _llama_like(draw: Draw) -> Architecture:
    hidden, heads_of, fewest, most = draw.choice(SHAPES)
    head_dim = draw.choice([d for d in heads_of if hidden % d == 0])
    heads = hidden // head_dim
    kv_heads = draw.choice([k for k in (2, 4, 8, heads) if heads % k == 0])
    return Architecture(
        layers=draw.between(fewest // 2, most // 2) * 2,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn=-(-int(draw.choice(GATED_WIDTHS) * hidden) // 256) * 256,
        vocab=draw.choice(VOCABULARIES),
        qkv_bias=draw.chance(25),
        tied=hidden <= 3072 and draw.chance(60),
    )


def _gpt_like(draw: Draw) -> Architecture:
    hidden, heads_of, fewest, most = draw.choice(SHAPES)
    head_dim = draw.choice([d for d in heads_of if hidden % d == 0])
    return Architecture(
        layers=draw.between(fewest // 2, most // 2) * 2,
        hidden=hidden,
        heads=hidden // head_dim,
        head_dim=head_dim,
        ffn=4 * hidden,
        vocab=draw.choice(VOCABULARIES[:4]),
        positions=draw.choice(POSITIONS),
        gated=False,
        activation="gelu",
        norm="layernorm",
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        tied=draw.chance(70),
    )


def _blocks(shape: Architecture) -> Blocks:
    h = shape.hidden
    return Blocks(
        attention=2 * h * shape.query_width + 2 * h * shape.kv_width,
        mlp=(3 if shape.gated else 2) * h * shape.ffn,
        layers=shape.layers,
        ends=(1 if shape.tied else 2) * shape.vocab * h,
        total=shape.parameters,
    )


def _hints(shape: Architecture, blocks: Blocks) -> tuple[str, str, str]:
    grouped = "keys and values are k·d wide, queries a·d"
    matrices = "three" if shape.gated else "two"
    return (
        "Matrices decide: attention and MLP of one layer, times the layers, and the vocabulary.",
        (
            f"In attention {grouped}; the MLP has {matrices} matrices of h × f; the vocabulary "
            f"counts {'once' if shape.tied else 'twice'}."
        ),
        (
            f"One layer: attention {count(blocks.attention)}, MLP {count(blocks.mlp)}. "
            f"Vocabulary: {count(blocks.ends)}."
        ),
    )


def _steps(shape: Architecture, blocks: Blocks) -> Iterator[Step]:
    mlp = f"{3 if shape.gated else 2}·h·f"
    layer = blocks.attention + blocks.mlp
    yield Step(
        text=f"a layer: h·(2·a·d + 2·k·d) + {mlp} = {count(blocks.attention)} + "
        f"{count(blocks.mlp)} = {count(layer)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"{shape.layers} × {count(layer)} + {count(blocks.ends)} = {count(blocks.on_paper)}",
        depth="whiteboard",
    )
    rows = (
        ("MLPs", shape.layers * blocks.mlp),
        ("attention", shape.layers * blocks.attention),
        (f"embedding{'' if shape.tied else ' and head'}", blocks.ends),
    )
    for name, size in sorted(rows, key=lambda row: -row[1]):
        yield Step(text=f"{name}: {number(size)}")
    small = "norms, biases and positions" if shape.positions else "norms"
    if shape.qkv_bias and not shape.positions:
        small = "norms and biases"
    yield Step(
        text=f"The rest of the difference is {small}, {number(blocks.rest)}: "
        f"exactly {number(blocks.total)}"
    )


def _mistakes(shape: Architecture, right: int) -> Iterator[Mistake]:
    yield from _other_shapes(shape, right)
    blocks = _blocks(shape)
    for name, wrong, why in (
        (
            "vocabulary forgotten",
            right - blocks.ends,
            "counts the layers alone; the vocabulary has {off}.",
        ),
        (
            "MLP taken for 4h wide with two matrices",
            shape.layers * 12 * shape.hidden**2 + blocks.ends,
            (
                "is the rule 12·L·h² and the vocabulary, which holds for a plain MLP of width "
                "4h and one key head for each query head: {off} off."
            ),
        ),
        (
            "MLP forgotten",
            right - shape.layers * blocks.mlp,
            "leaves out the MLPs, {off}: they are most of the model.",
        ),
        (
            "attention forgotten",
            right - shape.layers * blocks.attention,
            "leaves out attention's four matrices, {off}.",
        ),
    ):
        yield _wrong(wrong, right, name, why)


def _other_shapes(shape: Architecture, right: int) -> Iterator[Mistake]:
    """Yield what another number of key heads or MLP matrices, or another head, would make."""
    yield _wrong(
        replace(shape, kv_heads=shape.heads).parameters,
        right,
        "grouped heads forgotten",
        f"gives every query head its own key and value head; {shape.heads // shape.kv_heads} "
        "share one, so {off} are too many.",
    )
    other_mlp = replace(shape, gated=not shape.gated).parameters
    if shape.gated:
        why = "has 2 matrices in the MLP; this one has 3. {off} are missing."
        yield _wrong(other_mlp, right, "one MLP matrix forgotten", why)
    else:
        why = "has 3 matrices in the MLP; this one has 2. {off} are too many."
        yield _wrong(other_mlp, right, "one MLP matrix too many", why)
    other_head = replace(shape, tied=not shape.tied).parameters
    if shape.tied:
        why = "counts the tied head apart; it is the embedding itself, so {off} are too many."
        yield _wrong(other_head, right, "head counted twice", why)
    else:
        why = "counts the vocabulary once; the head is not tied, so {off} are missing."
        yield _wrong(other_head, right, "head forgotten", why)


def _wrong(value: int, right: int, name: str, why: str) -> Mistake:
    off = count(abs(value - right))
    return Mistake(
        name=name, value=Fraction(value), feedback=f"{count(value)} {why.format(off=off)}"
    )
