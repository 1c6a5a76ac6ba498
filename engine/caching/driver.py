"""What the driver gives: bytes up to a capacity, and addresses that it never gives twice."""

from collections.abc import Callable
from enum import StrEnum

from engine.allocator import LARGE_SEGMENT

ENDLESS = 1 << 62
# Addresses are invented; as with real ones, only their order counts.
LOWEST = -(-0x700000000000 // LARGE_SEGMENT) * LARGE_SEGMENT


class Action(StrEnum):
    """What the allocator notes, as PyTorch names it in a snapshot's traces."""

    ALLOC = "alloc"
    FREE_REQUESTED = "free_requested"
    FREE_COMPLETED = "free_completed"
    SEGMENT_ALLOC = "segment_alloc"
    SEGMENT_FREE = "segment_free"
    SEGMENT_MAP = "segment_map"
    SEGMENT_UNMAP = "segment_unmap"
    OOM = "oom"


Note = Callable[[Action, int, int], None]


class Driver:
    """The device's memory.

    Args:
        capacity: bytes that it can give to the allocator.
        note: called with each action, its address and its bytes.
    """

    def __init__(self, *, capacity: int, note: Note | None) -> None:
        self.capacity = capacity
        self.reserved = 0
        self.peak_reserved = 0
        self._note = note
        self._next = LOWEST

    @property
    def left(self) -> int:
        """Bytes that it can give yet."""
        return self.capacity - self.reserved

    def addresses(self, size: int) -> int:
        """Return the beginning of `size` unused addresses, a multiple of the largest page."""
        begin = self._next
        self._next += -(-size // LARGE_SEGMENT) * LARGE_SEGMENT
        return begin

    def give(self, size: int) -> bool:
        """Reserve `size` bytes, or return False where they exceed the capacity."""
        if size > self.left:
            return False
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return True

    def take(self, size: int) -> None:
        """Take back `size` bytes."""
        self.reserved -= size

    def note(self, action: Action, address: int, size: int) -> None:
        """Tell whoever listens what happens."""
        if self._note is not None:
            self._note(action, address, size)
