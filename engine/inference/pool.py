"""The pool that a serving engine gives to the cache: a part of the card, less all else in it.

vLLM takes a share of the card (gpu_memory_utilization), loads the weights, runs the largest batch
once to see what else is needed, and cuts what is left into blocks of tokens.
"""

from dataclasses import dataclass
from fractions import Fraction

from engine.inference.cache import KVCache


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Memory of one card as a serving engine divides it.

    Args:
        memory: of the card, in bytes.
        share: the part of it that the engine may use, from 0 to 1.
        weights: bytes of them on the card.
        profiled: bytes of all else in the share, as a trial run has shown: activations, buffers.

    Source: vLLM, vllm/v1/worker/gpu_worker.py, determine_available_memory.
    """

    memory: int
    share: Fraction
    weights: int
    profiled: int

    @property
    def usable(self) -> int:
        """Bytes that the engine may use."""
        return int(self.share * self.memory)

    @property
    def size(self) -> int:
        """Bytes of the pool, 0 where nothing is left for it."""
        return max(self.usable - self.weights - self.profiled, 0)

    def blocks(self, cache: KVCache) -> int:
        """Return the whole blocks of the cache that the pool holds."""
        return self.size // (cache.block * cache.per_token)

    def tokens(self, cache: KVCache) -> int:
        """Return the tokens that these blocks hold."""
        return self.blocks(cache) * cache.block

    def sequences(self, cache: KVCache, length: int) -> int:
        """Return how many sequences of a length the pool holds at once."""
        return self.size // cache.of(length)

    def longest(self, cache: KVCache, *, limit: int, sequences: int = 1) -> int:
        """Return the longest length up to `limit` that they all may have.

        It has whole blocks, but for one at `limit`, whose last block need not be full.
        """
        low, high = 0, -(-limit // cache.block)
        while low < high:
            middle = (low + high + 1) // 2
            fits = cache.of_batch(sequences, middle * cache.block) <= self.size
            low, high = (middle, high) if fits else (low, middle - 1)
        return min(low * cache.block, limit)
