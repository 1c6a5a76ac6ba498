"""Segments of fixed size, one `cudaMalloc` each: the default."""

from engine import allocator
from engine.caching.blocks import Block, Pool
from engine.caching.driver import Action, Driver


class Segments:
    """Gets memory in segments and gives back those that are free as a whole."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def cached(self, pool: Pool, size: int) -> Block | None:
        """Return the smallest free block of `size` bytes or more, the lowest of several."""
        return next(pool.cached.at_least(size), None)

    def splits(self, pool: Pool, rest: int) -> bool:
        """Whether the `rest` bytes of a block that is too large become a block of their own."""
        return rest >= allocator.BLOCK if pool.small else rest > allocator.SMALL

    def grow(self, pool: Pool, size: int) -> Block | None:
        """Return a new segment for `size` bytes, or None where the driver has no room."""
        segment = allocator.segment(size)
        if not self._driver.give(segment):
            return None
        block = Block(address=self._driver.addresses(segment), size=segment, pool=pool)
        self._driver.note(Action.SEGMENT_ALLOC, block.address, segment)
        return block

    def release(self, pool: Pool) -> None:
        """Give back the segments in which nothing is allocated."""
        least = allocator.SMALL_SEGMENT if pool.small else allocator.LARGE
        for block in [block for block in pool.cached.at_least(least) if block.whole]:
            pool.cached.remove(block)
            self._driver.take(block.size)
            self._driver.note(Action.SEGMENT_FREE, block.address, block.size)
