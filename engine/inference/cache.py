"""The cache of keys and values: what a token, a sequence and a batch take on a rank.

A layer keeps k · d elements of keys and as many of values for each token. Latent attention keeps
one compressed vector and the rotary part of the keys instead. A windowed layer keeps the tokens
of its window and no more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from engine.architecture import Architecture
from engine.errors import Fault, InputError
from engine.inference.stored import BF16, Stored


@dataclass(frozen=True, kw_only=True)
class Tensors:
    """What one layer keeps for one token: so many tensors of so many vectors.

    Args:
        vectors: keys and values of all its heads, or the two parts of the latent.
        widths: elements of each vector that differs in width.
    """

    vectors: int
    widths: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Elements of one token and layer."""
        return self.vectors * sum(self.widths)


def kept(a: Architecture, *, tensor: int = 1) -> Tensors:
    """Return what a layer keeps for a token on one of `tensor` ranks.

    Ranks split the key-value heads and hold one at least; the latent has no heads to split, so
    every rank has all of it.
    """
    if a.latent is not None:
        return Tensors(vectors=1, widths=(a.latent.kv_rank, a.latent.rope_head_dim))
    return Tensors(vectors=2 * heads_of_a_rank(a.kv_heads, tensor), widths=(a.head_dim,))


def heads_of_a_rank(heads: int, tensor: int) -> int:
    """Return how many of the key-value heads one of `tensor` ranks holds: one at least."""
    return -(-heads // tensor)


@dataclass(frozen=True, kw_only=True)
class KVCache:
    """The cache of a model on one rank.

    Args:
        architecture: of the model.
        stored: how elements are stored.
        tensor: ranks that split the key-value heads.
        block: tokens of a block; a sequence has whole blocks.
        windows: whether windowed layers keep their window alone; an engine that gives all layers
            the same memory does not.

    Raises:
        InputError: listing every number that is not positive, and ranks that heads do not fit.
    """

    architecture: Architecture
    stored: Stored = BF16
    tensor: int = 1
    block: int = 1
    windows: bool = True

    def __post_init__(self) -> None:
        faults = [
            Fault(f"cache.{name}", f"{value:,} is not positive")
            for name, value in (("tensor", self.tensor), ("block", self.block))
            if value < 1
        ]
        heads = self.architecture.kv_heads
        if not faults and self.architecture.latent is None and _uneven(heads, self.tensor):
            faults.append(
                Fault("cache.tensor", f"{self.tensor} ranks do not split {heads} key-value heads")
            )
        if faults:
            raise InputError(*faults)

    @property
    def windowed_layers(self) -> int:
        """Layers that keep a window alone."""
        a = self.architecture
        return (a.window_layers or a.layers) if self.windows and a.window else 0

    @property
    def full_layers(self) -> int:
        """Layers that keep every token."""
        return self.architecture.layers - self.windowed_layers

    @cached_property
    def per_layer(self) -> int:
        """Bytes of one token in one layer."""
        here = kept(self.architecture, tensor=self.tensor)
        return self.stored.size(here.elements)

    @property
    def per_token(self) -> int:
        """Bytes of one token in all layers, as long as every window has room."""
        return self.architecture.layers * self.per_layer

    @property
    def per_late_token(self) -> int:
        """Bytes that one more token adds once the sequence is longer than every window."""
        return self.full_layers * self.per_layer

    def blocks(self, tokens: int) -> int:
        """Return the blocks that so many tokens take in a layer that keeps them all."""
        return -(-tokens // self.block)

    def of(self, length: int) -> int:
        """Return the bytes of one sequence of so many tokens, its last block counted whole."""
        window = min(length, self.architecture.window)
        full = self.full_layers * self.blocks(length)
        capped = self.windowed_layers * self.blocks(window)
        return (full + capped) * self.block * self.per_layer

    def total(self, lengths: Iterable[int]) -> int:
        """Return the bytes of sequences of these lengths."""
        return sum(self.of(length) for length in lengths)

    def of_batch(self, sequences: int, length: int) -> int:
        """Return the bytes of so many sequences of one length."""
        return sequences * self.of(length)


def _uneven(heads: int, ranks: int) -> bool:
    return bool(heads % ranks and ranks % heads)
