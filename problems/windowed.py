"""Models whose layers keep a window of the tokens, and requests in their cache."""

from dataclasses import dataclass, replace

from engine.architecture import Architecture
from engine.catalog import models
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, FP8, FP16
from problems.draw import Draw
from problems.served import LENGTHS, plain

WINDOWS = (128, 512, 1 << 10, 2048, 4096)
# Of so many layers one keeps every token.
PERIODS = (2, 2, 3, 4, 5, 6)
# Lengths that are no powers of two.
ROUND = (3000, 5000, 6000, 10_000, 12_000, 20_000, 24_000, 40_000, 50_000, 60_000, 100_000)
FORMATS = ((BF16, 5), (FP16, 2), (FP8, 2))
LONGEST = 2**17
MOST_REQUESTS = 200


@dataclass(frozen=True, kw_only=True)
class Windowed:
    """A model with windows in some of its layers, and the requests in its cache."""

    title: str
    cache: KVCache
    requests: int
    length: int

    @property
    def a(self) -> Architecture:
        """The model's shape."""
        return self.cache.architecture

    @property
    def window(self) -> int:
        """Tokens that a windowed layer keeps of each request."""
        return self.a.window

    @property
    def size(self) -> int:
        """Bytes of the cache."""
        return self.cache.of_batch(self.requests, self.length)

    def alike(self) -> KVCache:
        """Return the cache in which every layer keeps every token."""
        return replace(self.cache, windows=False)

    def tokens(self) -> tuple[int, int]:
        """Return layers times tokens of a request: of full layers and of windowed ones."""
        return (
            self.cache.full_layers * self.length,
            self.cache.windowed_layers * min(self.window, self.length),
        )


def _model(draw: Draw) -> tuple[str, Architecture, int]:
    """Return a model that has windows, or one of another's sizes with windows put into it."""
    if draw.chance(25):
        model = draw.choice([m for m in models().values() if m.architecture.window])
        return model.title, model.architecture, model.max_sequence
    model = draw.choice([m for m in plain() if not m.architecture.positions])
    a = model.architecture
    full = max(a.layers // draw.choice(PERIODS), 1)
    shape = replace(a, window=draw.choice(WINDOWS), window_layers=a.layers - full)
    return f"A decoder with the sizes of {model.title}", shape, LONGEST


def windowed(draw: Draw) -> Windowed | None:
    """Return requests that are longer than the windows; None where the model allows none."""
    title, a, most = _model(draw)
    longer = [n for n in (*LENGTHS, *ROUND) if 2 * a.window < n <= most]
    if not longer:
        return None
    return Windowed(
        title=title,
        cache=KVCache(architecture=a, stored=draw.weighted(FORMATS)),
        requests=draw.between(1, MOST_REQUESTS),
        length=draw.choice(longer),
    )
