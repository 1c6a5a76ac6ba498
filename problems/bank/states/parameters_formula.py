"""Topic A, model states: the parameters of a decoder, as a formula."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from engine.architecture import NORM_VECTORS, Architecture
from engine.catalog import models
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import Formula, constant, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import listed, number

L, V, H, A, K, D, F, E, S = map(letter, "LVhakdfEs")
NOTHING = constant(0)
WIDTH = 128
NUMERALS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """What of a decoder is counted, and by which letters.

    Args:
        shape: its sizes and switches.
        square: attention is as wide as the model, so that its matrices are h × h.
        small: norms, biases and positions are counted too.
    """

    shape: Architecture
    square: bool
    small: bool

    @property
    def letters(self) -> str:
        """The letters of the formula."""
        grouped = "LhadfV" if self.keys == A else "LhakdfV"
        names = "LhfV" if self.square else grouped
        return names + "E" * (self.shape.experts is not None) + "s" * bool(self.positions)

    @property
    def positions(self) -> int:
        """Rows of the table of positions, where it is counted."""
        return self.shape.positions if self.small else 0

    @property
    def keys(self) -> Formula:
        """Key-value heads: as many as there are query heads, unless they are grouped."""
        return A if self.shape.kv_heads == self.shape.heads else K

    @cached_property
    def vocabulary(self) -> Formula:
        """Embedding and head."""
        return (1 if self.shape.tied else 2) * V * H

    @cached_property
    def attention(self) -> Formula:
        """The matrices of attention in a layer."""
        return 4 * H * H if self.square else 2 * H * A * D + 2 * H * self.keys * D

    @cached_property
    def mlp(self) -> Formula:
        """The matrices of the MLP in a layer, with a router where there are experts."""
        one = (3 if self.shape.gated else 2) * H * F
        return one if self.shape.experts is None else E * one + H * E

    @cached_property
    def vectors(self) -> Formula:
        """Norms and biases of a layer."""
        if not self.small:
            return NOTHING
        a = self.shape
        norms = a.norm_inputs * (1 if a.shared_norm else 2) + 2 * a.norm_outputs
        size = norms * NORM_VECTORS[a.norm] * H
        size += {"none": NOTHING, "head": 2 * D, "full": A * D + self.keys * D}[a.qk_norm]
        size += (A * D + 2 * self.keys * D) * int(a.qkv_bias) + H * int(a.output_bias)
        return size + ((2 if a.gated else 1) * F + H) * int(a.mlp_bias)

    @cached_property
    def rest(self) -> Formula:
        """What stands once: positions, the final norm, the head's bias."""
        if not self.small:
            return NOTHING
        table = S * H if self.positions else NOTHING
        return table + NORM_VECTORS[self.shape.norm] * H + V * int(self.shape.head_bias)

    @cached_property
    def formula(self) -> Formula:
        """All of it."""
        return self.vocabulary + L * (self.attention + self.mlp + self.vectors) + self.rest


@kind_at_levels(
    name="parameters-formula",
    topic="A",
    levels=("junior", "mid", "senior"),
    title="Parameters of a decoder as a formula",
    sources=(
        "arXiv 2001.08361 section 2.1",
        "huggingface/transformers, the classes' parameters on the meta device",
    ),
)
def parameters_formula(draw: Draw, level: Level) -> Draft | None:
    """Ask for the parameters of a decoder in letters."""
    model = draw.choice(tuple(models().values()))
    if not _suits(model.architecture, level):
        return None
    shape = _resized(draw, model.architecture)
    decoder = Decoder(shape=shape, square=level == "junior", small=level == "senior")
    letters, right = some(decoder.letters, s="positions of the table"), decoder.formula
    return Draft(
        prompt=render(
            "parameters-formula",
            width=number(shape.hidden),
            layers=shape.layers,
            vocabulary=number(shape.vocab),
            decoder=decoder,
            matrices=NUMERALS[3 if shape.gated else 2],
            vectors=listed(tuple(_vectors_said(shape))),
            norms=NUMERALS.get(NORM_VECTORS[shape.norm], ""),
            letters=letters_said(letters),
        ),
        answer=SymbolicAnswer(
            formula=right,
            letters=letters,
            unit="parameters",
            mistakes=telling(right, _mistakes(decoder)),
        ),
        hints=_hints(decoder),
        solution=tuple(_steps(decoder)),
        mistakes=(),
    )


def _resized(draw: Draw, a: Architecture) -> Architecture:
    """Return a published block in another number and width, with a head that is tied or not."""
    heads = draw.between(6, 96)
    return replace(
        a,
        layers=draw.between(8, 100),
        hidden=heads * WIDTH,
        heads=heads if a.kv_heads == a.heads else a.heads,
        kv_heads=heads if a.kv_heads == a.heads else a.kv_heads,
        head_dim=WIDTH,
        rotary_dim=WIDTH,
        window=0,
        window_layers=0,
        tied=draw.chance(40),
    )


def _suits(a: Architecture, level: Level) -> bool:
    """Return whether a model's tensors are all told of at this level."""
    if a.latent is not None or (a.experts is not None and a.experts.shared_ffn):
        return False
    if level == "junior":
        return a.query_width == a.hidden == a.kv_width and a.experts is None
    small = a.qkv_bias or a.qk_norm != "none" or a.norm_outputs or a.experts is not None
    return small if level == "senior" else a.experts is None


def _vectors_said(a: Architecture) -> Iterator[str]:
    """Yield the norms and biases of a layer, each with its width."""
    many = a.norm_inputs * (1 if a.shared_norm else 2) + 2 * a.norm_outputs
    each = {1: "a weight", 2: "a weight and a bias"}.get(NORM_VECTORS[a.norm])
    if each:
        yield (
            f"{many} norms of width h, each with {each}"
            if many > 1
            else (f"a norm of width h with {each}")
        )
    if a.qk_norm == "head":
        yield "two norms of width d on queries and keys, each with a weight"
    if a.qk_norm == "full":
        yield "norms over all queries and over all keys, each with a weight"
    if a.qkv_bias:
        yield "biases on queries, keys and values"
    if a.output_bias:
        yield "a bias on attention's output"
    if a.mlp_bias:
        yield "biases on all matrices of the MLP"


def _hints(decoder: Decoder) -> tuple[str, str, str]:
    shape = decoder.shape
    wide = (
        "h wide"
        if decoder.square
        else (f"a·d wide for queries, {(decoder.keys * D).said} for keys and for values")
    )
    return (
        "One layer first, all of its tensors; times the layers; then what stands once.",
        (
            f"Attention reads h numbers and is {wide}; its output matrix goes back to h. The MLP "
            f"has {NUMERALS[3 if shape.gated else 2]} matrices between h and f"
            f"{', in each expert' if shape.experts else ''}."
        ),
        (
            f"Attention has {decoder.attention.said} parameters in a layer; the vocabulary is "
            f"V × h, {'once' if shape.tied else 'twice'}."
        ),
    )


def _steps(decoder: Decoder) -> Iterator[Step]:
    shape = decoder.shape
    yield Step(text=f"attention of a layer: {decoder.attention.said}", depth="whiteboard")
    name = "experts and router" if shape.experts else "MLP"
    yield Step(text=f"{name} of a layer: {decoder.mlp.said}", depth="whiteboard")
    head = "embedding, which is the head too" if shape.tied else "embedding and head"
    yield Step(text=f"{head}: {decoder.vocabulary.said}", depth="whiteboard")
    if decoder.vectors != NOTHING:
        yield Step(text=f"norms and biases of a layer: {decoder.vectors.said}")
    if decoder.rest != NOTHING:
        yield Step(text=f"once: {decoder.rest.said}")
    values = sizes(shape)
    said = ", ".join(f"{name} = {number(values[name])}" for name in decoder.letters)
    counted = number(int(decoder.formula.at(values)))
    yield Step(text=f"with {said} that is {counted} parameters")
    yield Step(text=f"together: {decoder.formula.said}")


def sizes(shape: Architecture) -> dict[str, int]:
    """Return the letters' values for a shape."""
    return {
        "L": shape.layers,
        "h": shape.hidden,
        "a": shape.heads,
        "k": shape.kv_heads,
        "d": shape.head_dim,
        "f": shape.experts.ffn if shape.experts else shape.ffn,
        "V": shape.vocab,
        "E": shape.experts.routed if shape.experts else 1,
        "s": shape.positions,
    }


def _mistakes(decoder: Decoder) -> Iterator[WrongFormula]:
    right, shape = decoder.formula, decoder.shape
    if decoder.keys == K:
        says = "gives every query head its own key and value head; only k have one."
        yield wrong("grouped heads forgotten", right + 2 * L * H * (A - K) * D, says)
    if not decoder.square:
        says = "has queries and output of attention and neither keys nor values."
        yield wrong("keys and values forgotten", right - 2 * L * H * decoder.keys * D, says)
    one = L * H * F * (E if shape.experts else 1)
    if shape.gated:
        says = "has two matrices in the MLP; a gated one has three."
        yield wrong("one MLP matrix forgotten", right - one, says)
    else:
        says = "has three matrices in the MLP; this one is not gated and has two."
        yield wrong("one MLP matrix too many", right + one, says)
    if shape.tied:
        says = "counts the tied head apart; it is the embedding itself."
        yield wrong("head counted twice", right + V * H, says)
    else:
        says = "counts the vocabulary once; the head is not tied to the embedding."
        yield wrong("head forgotten", right - V * H, says)
    yield wrong("vocabulary forgotten", right - decoder.vocabulary, "has no vocabulary.")
    yield wrong("MLP forgotten", right - L * decoder.mlp, "has no MLP, most of the model.")
    yield wrong("attention forgotten", right - L * decoder.attention, "has no attention.")
    yield from _small(decoder)


def _small(decoder: Decoder) -> Iterator[WrongFormula]:
    right = decoder.formula
    if decoder.vectors != NOTHING:
        says = "leaves out the norms and biases of the layers."
        yield wrong("vectors forgotten", right - L * decoder.vectors, says)
    if decoder.shape.experts:
        says = "leaves out the router, h × E in each layer."
        yield wrong("router forgotten", right - L * H * E, says)
        says = "has one expert in a layer; there are E."
        yield wrong("one expert for all", right - L * (decoder.mlp - decoder.mlp / E), says)
    if decoder.small:
        says = "leaves out what stands once beside the vocabulary."
        yield wrong("final norm forgotten", right - decoder.rest, says)
