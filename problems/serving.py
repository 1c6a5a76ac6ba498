"""A model on the cards that serve it: stored weights, what they leave, and how that is said."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel, accelerators
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, BITS_OF_A_BYTE, FP8, FP16, INT4, INT8, Stored
from engine.inference.weights import weights
from engine.units import GB, MB
from problems.draw import Draw
from problems.scenarios import is_old
from problems.served import slips
from problems.wording import billions, bytes_of, card, gb, number, paper, rounded, short

WEIGHTS = ((BF16, 5), (FP16, 2), (INT8, 3), (INT4, 3))
# A digit more than elsewhere on paper: what is left is a difference of numbers that are near.
DIGITS = 4
# Parameters below which a model is seldom split.
SPLIT_FROM = 7 * GB
ROOMS = (80, 85, 90, 92, 95)


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A model on one card or several, of which a share is for weights and cache.

    Args:
        model: what is served.
        gpu: each of the cards.
        gpus: how many there are; weights and cache are split evenly over them.
        percent: of each card's memory that weights and cache may take.
        stored: the format of the weights.
        cache: the cache of keys and values, of all cards together.
        aside: bytes of the share that something else takes.
    """

    model: CatalogModel
    gpu: Accelerator
    gpus: int
    percent: int
    stored: Stored
    cache: KVCache
    aside: int = 0

    @property
    def weights(self) -> int:
        """Bytes of all weights."""
        return weights(self.model.architecture, self.stored)

    @property
    def room(self) -> int:
        """Bytes of all cards that weights and cache may take."""
        return self.gpus * self.gpu.memory * self.percent // 100

    @property
    def left(self) -> int:
        """Bytes that the weights leave."""
        return self.room - self.weights - self.aside

    @property
    def cards(self) -> str:
        """The cards: "one A100 SXM 80GB", "4 × T4"."""
        return f"one {card(self.gpu)}" if self.gpus == 1 else f"{self.gpus} × {card(self.gpu)}"

    @property
    def room_said(self) -> str:
        """The room on paper: "90% of 4 × 81,920 MiB = 309.2 GB"."""
        of = f"{self.gpus} × " if self.gpus > 1 else ""
        share = "" if self.percent == 100 else f"{self.percent}% of "
        return f"{share}{of}{number(self.gpu.memory_mib)} MiB = {paper(self.room, digits=DIGITS)}"

    @property
    def weights_said(self) -> str:
        """The weights on paper: "8.03 billion × 2 = 16.06 GB"."""
        each = self.stored.each / BITS_OF_A_BYTE
        product = paper(self.model.parameters * each, digits=DIGITS)
        return f"{billions(self.model.parameters)} billion × {short(each)} = {product}"

    @property
    def left_said(self) -> str:
        """What the weights leave, on paper: "48.95 - 29.54 = 19.41 GB"."""
        room, taken = (short(Fraction(size, GB)) for size in (self.room, self.weights))
        return f"{room} - {taken} = {paper(self.left, digits=DIGITS)}"

    @property
    def stored_said(self) -> str:
        """How weights are stored: "bf16, 2 bytes each"."""
        return f"{self.stored.title}, {bytes_of(self.stored.each / BITS_OF_A_BYTE)} each"

    def others(self) -> Iterator[tuple[str, "Serving", str]]:
        """Yield the name of a mistake, the serving that it takes this one for, and why not."""
        whole = replace(self, percent=100)
        if self.percent < 100:
            yield (
                "usable share forgotten",
                whole,
                f"takes all of {gb(whole.room)}; {self.percent}% is {gb(self.room)}.",
            )
        of_mb = replace(self.gpu, memory_mib=1)
        lost = self.room * (of_mb.memory - MB) // of_mb.memory
        yield (
            "MiB taken for MB",
            replace(self, aside=self.aside + lost),
            f"reads MiB as MB, {gb(lost)} less than there are.",
        )
        for other in (BF16, INT8):
            if other.bits != self.stored.bits:
                yield (
                    f"weights in {other.bits} bits",
                    replace(self, stored=other),
                    (
                        f"has {bytes_of(Fraction(other.bits, BITS_OF_A_BYTE))} a weight; "
                        f"{self.stored.title} has {short(self.stored.each / BITS_OF_A_BYTE)}: "
                        f"{gb(self.weights)} of weights."
                    ),
                )


def stored_for(draw: Draw, gpu: Accelerator) -> Stored:
    """Return a format of weights that a card can compute with."""
    stored = draw.weighted(WEIGHTS)
    return FP16 if stored is BF16 and is_old(gpu) else stored


def cache_for(draw: Draw, model: CatalogModel, gpu: Accelerator) -> KVCache:
    """Return the cache of a model in 16 bits or 8."""
    stored = draw.weighted(((BF16, 5), (FP8, 2), (INT8, 1)))
    if is_old(gpu):
        stored = FP16
    return KVCache(architecture=model.architecture, stored=stored)


def any_card(draw: Draw) -> Accelerator:
    """Return any catalogued card."""
    return draw.choice(tuple(accelerators().values()))


@dataclass(frozen=True, kw_only=True)
class Load:
    """A served model with requests of one length in its cache; with none, its weights alone."""

    serving: Serving
    requests: int
    length: int

    @property
    def cached(self) -> int:
        """Bytes of the cache."""
        return self.serving.cache.of_batch(self.requests, self.length)

    @property
    def size(self) -> int:
        """Bytes of weights and cache."""
        return self.serving.weights + self.cached

    @property
    def cached_on_paper(self) -> Fraction:
        """Bytes of the cache as one multiplies them on paper."""
        tokens = rounded(self.requests * self.length)
        return Fraction(rounded(self.serving.cache.per_token) * tokens)

    @property
    def cached_said(self) -> str:
        """The cache on paper: "48 × 2,048 × 262,000 = 25.8 GB"."""
        each = number(rounded(self.serving.cache.per_token))
        return f"{self.requests} × {number(self.length)} × {each} = {paper(self.cached_on_paper)}"

    def others(self) -> Iterator[tuple[str, Fraction, str]]:
        """Yield a mistake's name, the bytes that it gives, and why, with a place for {off}."""
        if self.requests:
            yield from self._of_cache()
        yield from self._of_weights()

    def _of_cache(self) -> Iterator[tuple[str, Fraction, str]]:
        x, cached = self.serving, self.cached
        yield "cache forgotten", Fraction(x.weights), "is the weights; the cache takes {off}."
        yield "weights forgotten", Fraction(cached), "is the cache; the weights take {off}."
        if self.requests > 1:
            yield (
                "one request for all",
                Fraction(x.weights + x.cache.of(self.length)),
                f"has the cache of one request; there are {self.requests}, {{off}} more.",
            )
        for slip in slips(x.cache):
            yield slip.name, x.weights + slip.times * cached, slip.why

    def _of_weights(self) -> Iterator[tuple[str, Fraction, str]]:
        x = self.serving
        active = x.model.architecture.active_parameters
        yield (
            "idle experts left out",
            self.cached + Fraction(x.weights * active, x.model.parameters),
            (
                f"counts the {number(active)} parameters that one token meets; any expert may be "
                "asked for, {off} more."
            ),
        )
        each = short(x.stored.each / BITS_OF_A_BYTE)
        for other in (BF16, INT8, INT4):
            if other.bits != x.stored.bits:
                yield (
                    f"weights in {other.bits} bits",
                    Fraction(self.cached + replace(x, stored=other).weights),
                    (
                        f"has {bytes_of(Fraction(other.bits, BITS_OF_A_BYTE))} a weight, "
                        f"{x.stored.title} has {each}: {{off}} off."
                    ),
                )
