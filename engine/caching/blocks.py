"""Blocks, cut from one another and merged again, and the order in which free ones are tried."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

CHUNK = 512


@dataclass(eq=False, kw_only=True, slots=True)
class Block:
    """A stretch of addresses, linked to the ones beside it in the same segment.

    Args:
        address: where it begins.
        size: bytes.
        pool: the pool that it belongs to.
        mapped: False where no memory lies behind the addresses yet.
        key: whose it is; None while it is free.
        requested: bytes asked for, before rounding; 0 while it is free.
        before: the block that ends where this one begins.
        after: the block that begins where this one ends.
    """

    address: int
    size: int
    pool: "Pool"
    mapped: bool = True
    key: int | None = None
    requested: int = 0
    before: "Block | None" = None
    after: "Block | None" = None

    @property
    def whole(self) -> bool:
        """Whether the block is all of its segment."""
        return self.before is None and self.after is None

    @property
    def end(self) -> int:
        """The first address behind the block."""
        return self.address + self.size

    def cut(self, size: int) -> "Block":
        """Keep the first `size` bytes and return the rest as a free block of its own."""
        rest = Block(
            address=self.address + size,
            size=self.size - size,
            pool=self.pool,
            mapped=self.mapped,
            before=self,
            after=self.after,
        )
        if rest.after is not None:
            rest.after.before = rest
        self.after = rest
        self.size = size
        return rest

    def absorb(self, after: "Block") -> None:
        """Take in the block that follows."""
        self.size += after.size
        self.after = after.after
        if self.after is not None:
            self.after.before = self


class Ordered:
    """Blocks in order: mapped ones by size and then address, unmapped ones by address.

    The keys lie in chunks, so that adding one moves few of the others.
    """

    def __init__(self) -> None:
        self._chunks: list[list[tuple[int, int]]] = []
        self._last: list[tuple[int, int]] = []
        self._at: dict[int, Block] = {}

    def add(self, block: Block) -> None:
        """Put a block in its place."""
        key = _key(block)
        self._at[block.address] = block
        if not self._last:
            self._chunks.append([])
            self._last.append(key)
        place = min(bisect_left(self._last, key), len(self._last) - 1)
        chunk = self._chunks[place]
        insort(chunk, key)
        self._last[place] = chunk[-1]
        if len(chunk) > CHUNK:
            middle = CHUNK // 2
            self._chunks[place : place + 1] = [chunk[:middle], chunk[middle:]]
            self._last.insert(place, chunk[middle - 1])

    def remove(self, block: Block) -> None:
        """Take a block out; it must not have changed since it was added."""
        key = _key(block)
        place = bisect_left(self._last, key)
        chunk = self._chunks[place]
        del chunk[bisect_left(chunk, key)]
        del self._at[block.address]
        if chunk:
            self._last[place] = chunk[-1]
        else:
            del self._chunks[place], self._last[place]

    def at_least(self, size: int) -> Iterator[Block]:
        """Yield the blocks of `size` bytes and more in order. Nothing may change meanwhile."""
        key = (size, 0)
        for place in range(bisect_left(self._last, key), len(self._last)):
            chunk = self._chunks[place]
            for index in range(bisect_left(chunk, key), len(chunk)):
                yield self._at[chunk[index][1]]

    def __iter__(self) -> Iterator[Block]:
        return self.at_least(0)


def _key(block: Block) -> tuple[int, int]:
    return (block.size if block.mapped else 0, block.address)


@dataclass(eq=False, kw_only=True, slots=True)
class Pool:
    """The free blocks for requests of one kind.

    Args:
        small: whether it serves requests of up to 1 MiB.
        page: bytes that an expandable segment grows by.
        cached: free blocks with memory behind them.
        unmapped: stretches of addresses with none.
    """

    small: bool
    page: int
    cached: Ordered = field(default_factory=Ordered)
    unmapped: Ordered = field(default_factory=Ordered)

    def settle(self, block: Block) -> Block:
        """Merge a free block with the free ones beside it that are like it, keep it, return it."""
        store = self.cached if block.mapped else self.unmapped
        before, after = block.before, block.after
        if before is not None and before.key is None and before.mapped is block.mapped:
            store.remove(before)
            before.absorb(block)
            block = before
        if after is not None and after.key is None and after.mapped is block.mapped:
            store.remove(after)
            block.absorb(after)
        store.add(block)
        return block
