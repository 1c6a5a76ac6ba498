"""A model that is served: what is drawn for it, how its cache is said, and what goes astray."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache as remembered

from engine.architecture import Architecture
from engine.catalog import CatalogModel, models
from engine.inference.cache import KVCache, heads_of_a_rank, kept
from engine.inference.stored import BF16, BITS_OF_A_BYTE, FP8, FP16, FP32, INT8, Stored
from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from problems.draw import Draw
from problems.problem import Mistake
from problems.slips import unit_slips
from problems.wording import bytes_of, gb, number, rounded, short

CACHES = ((BF16, 5), (FP16, 3), (FP8, 3), (INT8, 2))
LENGTHS = tuple(1 << power for power in range(9, 18))
# A size in either unit, and how near a number is to another that it cannot be told from.
UNITS = ((MB, MIB), (GB, GIB), (TB, TIB))
SAME = Fraction(1, 100)
FEW = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 28, 30)
REQUESTS = (
    *FEW,
    32,
    36,
    40,
    48,
    50,
    56,
    60,
    64,
    72,
    80,
    96,
    100,
    120,
    128,
    150,
    160,
    192,
    200,
    256,
)


@dataclass(frozen=True, kw_only=True)
class Slip:
    """A way to get a cache that is so many times the right one.

    Args:
        name: of the mistake.
        times: what the right size is multiplied with.
        why: follows the number, with a place for {off}, how far it is off.
    """

    name: str
    times: Fraction
    why: str


@remembered
def plain() -> tuple[CatalogModel, ...]:
    """Return the models that keep keys and values of every token: no windows, no latent."""
    return tuple(
        m for m in models().values() if not m.architecture.window and not m.architecture.latent
    )


@remembered
def grouped() -> tuple[CatalogModel, ...]:
    """Return those of them whose query heads share keys and values."""
    return tuple(m for m in plain() if m.architecture.kv_heads < m.architecture.heads)


@remembered
def latent() -> tuple[CatalogModel, ...]:
    """Return the models with latent attention."""
    return tuple(m for m in models().values() if m.architecture.latent)


def cache_format(draw: Draw) -> Stored:
    """Return a format that a cache is stored in: 16 bits more often than 8."""
    return draw.weighted(CACHES)


def length_for(draw: Draw, model: CatalogModel, *, least: int = 512) -> int:
    """Return a usual length that the model allows."""
    return draw.choice([n for n in LENGTHS if least <= n <= model.max_sequence])


def heads_said(a: Architecture) -> str:
    """Return "32 layers, 32 query heads, 8 key-value heads, head size 128"."""
    layers = f"{a.layers} layers"
    if a.latent:
        return (
            f"{layers}, {a.heads} heads, multi-head latent attention: key-value rank "
            f"{a.latent.kv_rank}, rotary part {a.latent.rope_head_dim}"
        )
    heads = f"{a.heads} query heads, {a.kv_heads} key-value {_plural('head', a.kv_heads)}"
    return f"{layers}, {heads}, head size {a.head_dim}"


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def width_of(cache: KVCache) -> Fraction:
    """Return the bytes of one element of the cache, scales in it."""
    return cache.stored.each / BITS_OF_A_BYTE


def elements_said(cache: KVCache, layers: int | None = None) -> str:
    """Return the elements of a token as a product: "2 × 32 × 8 × 128", "60 × (512 + 64)"."""
    a = cache.architecture
    count = a.layers if layers is None else layers
    if a.latent:
        return f"{count} × ({a.latent.kv_rank} + {a.latent.rope_head_dim})"
    return f"2 × {count} × {kept(a, tensor=cache.tensor).vectors // 2} × {a.head_dim}"


def token_said(cache: KVCache) -> str:
    """Return the bytes of a token on paper: "2 × 32 × 8 × 128 × 2 = 131,072 bytes"."""
    each = f"{elements_said(cache)} × {short(width_of(cache))}"
    return f"{each} = {number(cache.per_token)} bytes"


def kib(size: Fraction | int) -> str:
    """Return bytes in KiB, as caches of a token are told: 128 KiB, 68.62 KiB."""
    return f"{f'{float(size) / KIB:,.2f}'.rstrip('0').rstrip('.')} KiB"


def on_paper(cache: KVCache, tokens: int) -> Fraction:
    """Return the bytes of so many tokens as one multiplies them on paper, to three digits."""
    return Fraction(rounded(cache.per_token) * rounded(tokens))


def thousands(size: int) -> str:
    """Return a token's bytes on paper: "131,000 bytes"."""
    return f"{number(rounded(size))} bytes"


def slips(cache: KVCache) -> Iterator[Slip]:
    """Yield what goes astray in a cache's size, each as a factor of the right one."""
    a = cache.architecture
    yield from _slips_of_latent(a) if a.latent else _slips_of_heads(cache)
    yield from _slips_of_width(cache.stored)
    if a.layers > 1:
        yield Slip(
            name="one layer for all",
            times=Fraction(1, a.layers),
            why=f"is one layer; there are {a.layers}, {{off}} more.",
        )


def _slips_of_heads(cache: KVCache) -> Iterator[Slip]:
    a = cache.architecture
    held = cache.tensor * heads_of_a_rank(a.kv_heads, cache.tensor)
    yield Slip(
        name="keys or values alone",
        times=Fraction(1, 2),
        why="has the keys or the values; both are kept, {off} more.",
    )
    if a.kv_heads < a.heads:
        yield Slip(
            name="grouped heads forgotten",
            times=Fraction(a.heads, held),
            why=f"counts {a.heads} heads; keys and values have {a.kv_heads}, so {{off}} are too "
            "many.",
        )
    if a.hidden != a.query_width:
        yield Slip(
            name="hidden size for the heads' width",
            times=Fraction(a.hidden, held * a.head_dim),
            why=f"takes the hidden size {number(a.hidden)} for the width of the keys, which is "
            f"{a.kv_heads} × {a.head_dim} = {number(a.kv_width)}: {{off}} off.",
        )


def _slips_of_latent(a: Architecture) -> Iterator[Slip]:
    m = a.latent
    if m is None:
        return
    both = m.kv_rank + m.rope_head_dim
    expanded = a.heads * (m.nope_head_dim + m.rope_head_dim + m.value_head_dim)
    yield Slip(
        name="latent expanded",
        times=Fraction(expanded, both),
        why=f"keeps keys and values of all {a.heads} heads; the latent is kept in their place, so "
        "{off} are too many.",
    )
    yield Slip(
        name="latent kept twice",
        times=Fraction(2),
        why="is twice the latent; keys and values are both made of the same one: {off} too many.",
    )
    yield Slip(
        name="rotary part forgotten",
        times=Fraction(m.kv_rank, both),
        why=f"leaves out the rotary part of the keys, {m.rope_head_dim} elements: {{off}}.",
    )


def _slips_of_width(stored: Stored) -> Iterator[Slip]:
    for other in (BF16, FP32):
        if other.bits <= stored.bits:
            continue
        each = bytes_of(Fraction(other.bits, BITS_OF_A_BYTE))
        yield Slip(
            name=f"cache in {other.bits} bits",
            times=other.bits / stored.each,
            why=f"takes {each} an element; {stored.name} has "
            f"{short(stored.each / BITS_OF_A_BYTE)}, so {{off}} are too many.",
        )


def mistaken(
    slip: Slip, right: int, part: int | None = None, said: Callable[[Fraction], str] = gb
) -> Mistake:
    """Return what a slip in `part` of the `right` bytes gives; all of them where it is None."""
    value = right + (slip.times - 1) * (right if part is None else part)
    off = said(abs(value - right))
    return Mistake(
        name=slip.name, value=value, feedback=f"{said(value)} {slip.why.format(off=off)}"
    )


def and_thousands(right: int) -> Iterator[Mistake]:
    """Yield the two numbers that come of kB and KiB taken for each other."""
    value = Fraction(right * KB, KIB)
    yield Mistake(
        name="KiB typed as kB",
        value=value,
        feedback=f"{kib(value)} is {kib(right)} said in kB: a KiB is 2^10 bytes, 2.4% more than "
        "a kB.",
    )
    value = Fraction(right * KIB, KB)
    yield Mistake(
        name="kB typed as KiB",
        value=value,
        feedback=f"{kib(value)} is the number of kB said in KiB: a KiB is 2^10 bytes, 2.4% more "
        "than a kB.",
    )


def and_units(mistakes: Iterable[Mistake], right: int) -> tuple[Mistake, ...]:
    """Return the mistakes and slips of units, without those that give as good as such a slip."""
    exchanged = [Fraction(right * x, y) for a, b in UNITS for x, y in ((a, b), (b, a))]
    clear = [
        m for m in mistakes if all(abs(m.value - value) > SAME * value for value in exchanged)
    ]
    return (*clear, *unit_slips(right))
