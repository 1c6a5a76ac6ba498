"""Allocations and releases in their order, and what the allocator reserves for them."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine import allocator
from engine.caching.cache import CachingAllocator

Event = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class OutOfMemory:
    """The allocation that failed, after the cache was emptied for it.

    Args:
        index: which event it was.
        requested: bytes of the tensor.
        driver_request: bytes asked from the driver: "Tried to allocate" in PyTorch's message.
        free: bytes that the driver had left.
        reserved: bytes that it had given.
        allocated: bytes of these in blocks that were in use.
    """

    index: int
    requested: int
    driver_request: int
    free: int
    reserved: int
    allocated: int

    @property
    def unallocated(self) -> int:
        """What the message calls reserved by PyTorch but unallocated."""
        return self.reserved - self.allocated


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """What a replay comes to, in bytes. Of several equal peaks, the first counts.

    Args:
        peak_reserved: `torch.cuda.max_memory_reserved()`.
        peak_allocated: `torch.cuda.max_memory_allocated()`: whole blocks, not tensors.
        allocated_at_peak_reserved: what was allocated when most was reserved.
        peak_index: the event with which most was allocated; -1 without one.
        out_of_memory: what ended the replay early.
    """

    peak_reserved: int
    peak_allocated: int
    allocated_at_peak_reserved: int
    peak_index: int
    out_of_memory: OutOfMemory | None = None


def replay(
    events: Iterable[Event], *, expandable: bool = False, capacity: int | None = None
) -> Reserved:
    """Replay allocations and releases in an empty allocator.

    Args:
        events: a key and its change in bytes: positive where it is allocated, negative or 0 where
            it is freed, which is always as a whole.
        expandable: as with `expandable_segments:True`.
        capacity: bytes that the driver can give to the allocator; None for no end.

    Raises:
        ValueError: a key is allocated while it is, freed while it is not, or freed in part.
    """
    return run(CachingAllocator(expandable=expandable, capacity=capacity), events)


def run(cache: CachingAllocator, events: Iterable[Event]) -> Reserved:
    """Replay `events` in `cache` and leave it as it is after the last one."""
    peak, peak_index = cache.allocated, -1
    highest, allocated_then = cache.peak_reserved, cache.allocated
    failed = None
    for index, (key, size) in enumerate(events):
        if size <= 0:
            freed = cache.free(key)
            if size not in {0, -freed}:
                raise ValueError(f"event {index}: key {key} has {freed} bytes, {-size} are freed")
            continue
        block = cache.allocate(key, size)
        if cache.peak_reserved > highest:
            highest, allocated_then = cache.peak_reserved, cache.allocated
        if block is None:
            failed = _failed(cache, index, size)
            break
        if cache.allocated > peak:
            peak, peak_index = cache.allocated, index
    return Reserved(
        peak_reserved=cache.peak_reserved,
        peak_allocated=peak,
        allocated_at_peak_reserved=allocated_then,
        peak_index=peak_index,
        out_of_memory=failed,
    )


def _failed(cache: CachingAllocator, index: int, size: int) -> OutOfMemory:
    return OutOfMemory(
        index=index,
        requested=size,
        driver_request=allocator.segment(size),
        free=cache.left,
        reserved=cache.reserved,
        allocated=cache.allocated,
    )
