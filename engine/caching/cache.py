"""The allocator: blocks out of the cache first, then from the driver, then after emptying it."""

from collections.abc import Iterator
from itertools import chain

from engine import allocator
from engine.caching.blocks import Block, Pool
from engine.caching.driver import ENDLESS, Action, Driver, Note
from engine.caching.expandable import Ranges
from engine.caching.segments import Segments


class CachingAllocator:
    """The state of the allocator; keys stand for tensors.

    Args:
        expandable: as with `expandable_segments:True`.
        capacity: bytes that the driver can give; None for no end.
        note: called with each action, its address and its bytes as a snapshot's trace has them.
    """

    def __init__(
        self,
        *,
        expandable: bool = False,
        capacity: int | None = None,
        note: Note | None = None,
    ) -> None:
        self.allocated = 0
        self._driver = Driver(capacity=ENDLESS if capacity is None else capacity, note=note)
        self._source = Ranges(self._driver) if expandable else Segments(self._driver)
        self._small = Pool(small=True, page=allocator.SMALL_SEGMENT)
        self._large = Pool(small=False, page=allocator.LARGE_SEGMENT)
        self._live: dict[int, Block] = {}

    @property
    def reserved(self) -> int:
        """Bytes that the driver has given."""
        return self._driver.reserved

    @property
    def peak_reserved(self) -> int:
        """Most bytes that the driver had given at any moment."""
        return self._driver.peak_reserved

    @property
    def left(self) -> int:
        """Bytes that the driver can give yet."""
        return self._driver.left

    def allocate(self, key: int, size: int) -> Block | None:
        """Return the block that `key` gets for `size` bytes, or None where memory is out.

        Raises:
            ValueError: `key` has a block, or `size` is not positive.
        """
        if key in self._live:
            raise ValueError(f"key {key} is allocated already")
        if size <= 0:
            raise ValueError(f"key {key}: {size} bytes cannot be allocated")
        rounded = allocator.block(size)
        pool = self._small if rounded <= allocator.SMALL else self._large
        block = self._take(pool, rounded)
        if block is None:
            return None
        if self._source.splits(pool, block.size - rounded):
            pool.cached.add(block.cut(rounded))
        block.key = key
        block.requested = size
        self._live[key] = block
        self.allocated += block.size
        self._driver.note(Action.ALLOC, block.address, size)
        return block

    def free(self, key: int) -> int:
        """Put the block of `key` back into the cache and return the bytes asked for it.

        Raises:
            ValueError: `key` has none.
        """
        block = self._live.pop(key, None)
        if block is None:
            raise ValueError(f"key {key} is not allocated")
        self.allocated -= block.size
        # With one stream nothing stands between the request and its completion.
        size = block.requested
        self._driver.note(Action.FREE_REQUESTED, block.address, size)
        self._driver.note(Action.FREE_COMPLETED, block.address, size)
        block.key = None
        block.requested = 0
        block.pool.settle(block)
        return size

    def empty_cache(self) -> None:
        """Give back what the driver can take: segments, or pages, with nothing allocated."""
        self._source.release(self._large)
        self._source.release(self._small)

    def segments(self) -> list[tuple[Block, ...]]:
        """Return the blocks of each segment, or of each mapped stretch of one, by address."""
        blocks = chain(self._live.values(), self._small.cached, self._large.cached)
        heads = [b for b in blocks if b.before is None or not b.before.mapped]
        return [tuple(_mapped(head)) for head in sorted(heads, key=lambda head: head.address)]

    def _take(self, pool: Pool, size: int) -> Block | None:
        block = self._source.cached(pool, size)
        if block is not None:
            pool.cached.remove(block)
            return block
        block = self._source.grow(pool, size)
        if block is None:
            self.empty_cache()
            block = self._source.grow(pool, size)
        return block


def _mapped(head: Block) -> Iterator[Block]:
    block: Block | None = head
    while block is not None and block.mapped:
        yield block
        block = block.after
