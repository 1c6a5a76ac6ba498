"""PyTorch's caching allocator: what it asks the driver for when a tensor does not fit its cache.

Source: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp, `round_size` and `get_allocation_size`.
"""

from engine.units import MIB

BLOCK = 512
SMALL = MIB
SMALL_SEGMENT = 2 * MIB
LARGE = 10 * MIB
LARGE_SEGMENT = 20 * MIB
ROUNDING = 2 * MIB


def block(size: int) -> int:
    """Return the bytes of the block that holds a tensor of `size` bytes: a multiple of 512."""
    return max(1, -(-size // BLOCK)) * BLOCK


def segment(size: int) -> int:
    """Return the bytes asked from the driver for a tensor of `size` bytes.

    This is the number in "CUDA out of memory. Tried to allocate …".
    """
    rounded = block(size)
    if rounded <= SMALL:
        return SMALL_SEGMENT
    if rounded < LARGE:
        return LARGE_SEGMENT
    return -(-rounded // ROUNDING) * ROUNDING
