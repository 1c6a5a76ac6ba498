"""Caching allocators with blocks of whole MiB, and how their blocks lie."""

from engine.caching.cache import CachingAllocator
from engine.units import MIB


def filled(*sizes, **options):
    """An allocator in which keys 0, 1, … have so many MiB, one behind the other."""
    cache = CachingAllocator(**options)
    for key, size in enumerate(sizes):
        assert cache.allocate(key, int(size * MIB)) is not None
    return cache


def free(cache, *keys):
    for key in keys:
        cache.free(key)


def place(cache, key, size):
    """Allocate `size` MiB and return its distance in MiB from the lowest block there was."""
    lowest = cache.segments()[0][0].address
    return (cache.allocate(key, int(size * MIB)).address - lowest) / MIB


def layout(cache):
    """The blocks of each segment or mapped stretch: MiB, and the key or None."""
    return [[(b.size / MIB, b.key) for b in blocks] for blocks in cache.segments()]
