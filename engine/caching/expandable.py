"""`expandable_segments:True`: a range of addresses for each pool, given memory page by page."""

from engine import allocator
from engine.caching.blocks import Block, Pool
from engine.caching.driver import Action, Driver
from engine.units import TIB


class Ranges:
    """Puts memory behind the lowest free addresses and takes it away from free pages."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def cached(self, pool: Pool, size: int) -> Block | None:
        """Return the first free block of `size` bytes or more that is not larger once grown."""
        chosen = None
        for block in pool.cached.at_least(size):
            if chosen is not None and _grown(block) >= _grown(chosen):
                break
            chosen = block
        return chosen

    def splits(self, pool: Pool, rest: int) -> bool:
        """Whether the `rest` bytes of a block that is too large become a block of their own."""
        del pool
        return rest >= allocator.BLOCK

    def grow(self, pool: Pool, size: int) -> Block | None:
        """Return a free block of `size` bytes or more, or None where the driver has no room.

        What was mapped before the driver said no stays in the pool.
        """
        block = None
        missing = size
        for part in self._lowest(pool, size):
            used = min(part.size, missing)
            if not part.mapped:
                block = self._map(part, used)
                if block is None:
                    return None
            missing -= used
        if block is not None:
            pool.cached.remove(block)
        return block

    def release(self, pool: Pool) -> None:
        """Give back the pages in which nothing is allocated."""
        for block in list(pool.cached.at_least(pool.page)):
            self._unmap(block)

    def _lowest(self, pool: Pool, size: int) -> list[Block]:
        """Return the lowest neighbours, mapped or not, that are free and make `size` bytes."""
        for gap in pool.unmapped:
            before = gap.before
            run = _free_from(before if before is not None and before.key is None else gap, size)
            if sum(block.size for block in run) >= size:
                return run
        return [self._range(pool, size)]

    def _range(self, pool: Pool, size: int) -> Block:
        memory = min(self._driver.capacity, max(TIB, size))
        # An eighth more addresses than memory, for pages that lie unmapped in between.
        space = _pages(memory + memory // 8, pool)
        block = Block(address=self._driver.addresses(space), size=space, pool=pool, mapped=False)
        pool.unmapped.add(block)
        return block

    def _map(self, block: Block, size: int) -> Block | None:
        pool, address = block.pool, block.address
        mapped = _pages(size, pool)
        if not self._driver.give(mapped):
            return None
        pool.unmapped.remove(block)
        if mapped < block.size:
            pool.unmapped.add(block.cut(mapped))
        block.mapped = True
        self._driver.note(Action.SEGMENT_MAP, address, mapped)
        return pool.settle(block)

    def _unmap(self, block: Block) -> None:
        pool = block.pool
        first, last = _pages(block.address, pool), block.end // pool.page * pool.page
        if first >= last:
            return
        pool.cached.remove(block)
        if last < block.end:
            pool.cached.add(block.cut(last - block.address))
        if block.address < first:
            rest = block.cut(first - block.address)
            pool.cached.add(block)
            block = rest
        block.mapped = False
        self._driver.take(block.size)
        self._driver.note(Action.SEGMENT_UNMAP, first, block.size)
        gap = pool.settle(block)
        if gap.whole:
            pool.unmapped.remove(gap)


def _grown(block: Block) -> int:
    """What a free block could grow to: with the unmapped addresses behind it."""
    after = block.after
    return block.size + (after.size if after is not None and not after.mapped else 0)


def _free_from(block: Block | None, size: int) -> list[Block]:
    run = []
    while size > 0 and block is not None and block.key is None:
        run.append(block)
        size -= block.size
        block = block.after
    return run


def _pages(size: int, pool: Pool) -> int:
    return -(-size // pool.page) * pool.page
