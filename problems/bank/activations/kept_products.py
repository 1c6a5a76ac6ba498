"""Topic B, activations: checkpoints of chosen products, whose outputs alone are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.architecture import Architecture
from engine.catalog import CatalogModel
from engine.units import MB
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.slips import no_unit_slip
from problems.wording import digits_of, gb, listed, number, paper
from problems.wrong_sizes import wrong_size

HALF = 2  # bytes of a 16-bit element
MLP = ("MLP gate", "MLP up", "MLP down")
ATTENTION = ("query", "key", "value", "attention output")
SAID = {"query": "queries", "key": "keys", "value": "values"}
# Millions of tokens of a step, over all GPUs.
MILLIONS = ("0.25", "0.5", "1", "2", "3", "4", "6", "8", "12", "16", "20", "24", "32")
RANKS = (8, 16, 32, 64, 128, 256, 512)
COUNTS: dict[Level, tuple[int, int]] = {"junior": (1, 1), "mid": (2, 3), "senior": (3, 5)}


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The outputs of some products of every layer, kept for the backward pass.

    Args:
        of: the architecture.
        names: of the tensors that they are products with.
        tokens: of a step, over all GPUs.
        ranks: GPUs that share the tokens, 1 where all of them are asked about together.
    """

    of: Architecture
    names: tuple[str, ...]
    tokens: int
    ranks: int = 1

    @property
    def widths(self) -> dict[str, int]:
        """Elements of a token's output, by product."""
        return {t.name: t.rows for t in self.of.tensors if t.name in self.names}

    @property
    def size(self) -> int:
        """Bytes of the outputs of all layers."""
        return self.of_width(sum(self.widths.values()))

    @property
    def has_grouped(self) -> bool:
        """Whether keys or values are among them, and narrower than queries."""
        return self.of.kv_heads < self.of.heads and bool({"key", "value"} & {*self.names})

    def of_width(self, width: int) -> int:
        """Return the bytes of so many elements a token and layer."""
        return HALF * self.of.layers * self.tokens * width // self.ranks


@kind_at_levels(
    name="kept-products",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="What checkpoints of chosen products keep",
    sources=("jax-ml/scaling-book training.md", "arXiv 1604.06174 section 3"),
)
def kept_products(draw: Draw, level: Level) -> Draft | None:
    """Ask for the outputs of one product, of some, or for a GPU's part of those of several."""
    model, kept = draw.unlike(
        lambda: _drawn(draw, level),
        lambda figures: (figures[0].name, figures[1].names, figures[1].tokens, figures[1].ranks),
    )
    if not kept.names or (level == "senior" and not kept.has_grouped):
        return None
    widths, size = kept.widths, kept.size
    summed = " + ".join(map(number, widths.values()))
    width, million = sum(widths.values()), digits_of(Fraction(kept.tokens, MB * kept.ranks))
    return one_size(
        prompt=_prompt(model, kept),
        size=size,
        hints=(
            "A product with a matrix has one output for each token: how wide is it?",
            f"A token of a layer keeps {summed} elements of {HALF} bytes.",
            f"Multiply that by {kept.of.layers} layers and {number(kept.tokens)} tokens"
            + (f", of which a GPU has a part in {kept.ranks}." if kept.ranks > 1 else "."),
        ),
        on_paper=(
            f"widths: {summed} = {number(width)}" if len(widths) > 1 else f"width: {summed}",
            (
                f"{HALF} × {kept.of.layers} × {number(width)} = "
                f"{number(HALF * kept.of.layers * width)} bytes a token"
            ),
            f"times {million} million tokens = {paper(size)}",
        ),
        exact=(f"{_named(name)}: {gb(kept.of_width(rows))}" for name, rows in widths.items()),
        mistakes=no_unit_slip(size, _mistakes(kept)),
    )


def _drawn(draw: Draw, level: Level) -> tuple[CatalogModel, Kept]:
    model = scenarios.any_model(draw)
    a = model.architecture
    found = {t.name for t in a.tensors if t.place == "layer" and t.copies == a.layers}
    could = [name for name in (*ATTENTION, *MLP) if name in found]
    chosen = draw.sample(could, min(draw.between(*COUNTS[level]), len(could)))
    if level == "mid" and draw.chance(50):  # as one does it by hand: all of the MLP's
        chosen = tuple(name for name in MLP if name in found) or chosen
    return model, Kept(
        of=a,
        names=tuple(name for name in could if name in chosen),
        tokens=int(Fraction(draw.choice(MILLIONS)) * MB),
        ranks=draw.choice(RANKS) if level == "senior" else 1,
    )


def _named(name: str) -> str:
    return SAID.get(name, name)


def _prompt(model: CatalogModel, kept: Kept) -> str:
    a = kept.of
    mlp = f"MLP f = {number(a.ffn)} ({'gate, up and down' if a.gated else 'up and down'})"
    where = f"of {kept.ranks} GPUs, which share the tokens evenly" if kept.ranks > 1 else ""
    asked = "on each GPU" if where else "over all GPUs together"
    one = len(kept.names) == 1
    products = listed([_named(name) for name in kept.names])
    return (
        f"{model.title}: L = {a.layers} layers, h = {number(a.hidden)}, a = {a.heads} heads and "
        f"k = {a.kv_heads} key-value heads of d = {a.head_dim}, {mlp}. A step "
        f"{where and where + ', '}has {number(kept.tokens)} tokens. Each layer keeps the 16-bit "
        f"output{'' if one else 's'} of {'this product' if one else 'these products'} for the "
        f"backward pass, and runs all else again: {products}. Leave out logits and loss.\nHow "
        f"much does that take {asked}?"
    )


def _mistakes(kept: Kept) -> Iterator[Mistake]:
    size, a, widths = kept.size, kept.of, kept.widths
    width = sum(widths.values())
    yield from _other_widths(kept, width)
    why = f"is one layer; each of {a.layers} layers keeps its own, {{off}} more."
    yield wrong_size(Fraction(size, a.layers), size, "one layer for all", why)
    why = "counts elements; each has 2 bytes, {off} more."
    yield wrong_size(Fraction(size, HALF), size, "elements taken for bytes", why)
    why = "has 4 bytes an element; 16-bit outputs take 2, {off} less."
    yield wrong_size(2 * size, size, "activations in 32 bits", why)
    if kept.ranks > 1:
        why = f"is what all {kept.ranks} GPUs keep; each has its own tokens, {{off}} less."
        yield wrong_size(size * kept.ranks, size, "not shared", why)


def _other_widths(kept: Kept, width: int) -> Iterator[Mistake]:
    size, a, widths = kept.size, kept.of, kept.widths
    why = "takes every output as wide as the model; they are as wide as their matrix, {off} off."
    yield wrong_size(
        kept.of_width(len(widths) * a.hidden), size, "every product as wide as the model", why
    )
    grouped: Sequence[str] = [name for name in ("key", "value") if name in widths]
    if a.kv_heads < a.heads and grouped:
        more = len(grouped) * (a.query_width - a.kv_width)
        why = f"has {a.heads} heads for keys and values; there are {a.kv_heads}, {{off}} less."
        yield wrong_size(kept.of_width(width + more), size, "grouped heads forgotten", why)
    if len(widths) > 1:
        largest = max(widths.values())
        why = "leaves out the widest of them, {off}."
        yield wrong_size(kept.of_width(width - largest), size, "widest product forgotten", why)
