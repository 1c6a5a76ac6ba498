"""The message with which PyTorch 2 says that a request does not fit.

Source: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp, `format_size`, `reportProcessMemoryInfo`
and the text of `OutOfMemoryError`.
"""

from dataclasses import dataclass
from textwrap import fill

from engine.allocator import segment
from engine.units import GIB, KIB, MIB
from problems.exhibits import WIDEST

ADVICE = (
    "If reserved but unallocated memory is large try setting "
    "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


@dataclass(frozen=True, kw_only=True)
class OutOfMemory:
    """A request that failed, and what the device held then, in bytes.

    Args:
        tensor: bytes that the tensor takes.
        total: the card's.
        allocated: by PyTorch, in live tensors.
        reserved: by PyTorch, of the driver: the allocated ones and those in its cache.
        outside: of this process, but not PyTorch's: context, libraries, communicators.
        others: of other processes.
        limit: of PyTorch, where it was set; None where the card is its limit.
    """

    tensor: int
    total: int
    allocated: int
    reserved: int
    outside: int
    others: int = 0
    limit: int | None = None

    @property
    def request(self) -> int:
        """What is asked of the driver."""
        return segment(self.tensor)

    @property
    def in_use(self) -> int:
        """What this process has."""
        return self.reserved + self.outside

    @property
    def free(self) -> int:
        """What the driver can give yet."""
        return self.total - self.in_use - self.others

    @property
    def cached(self) -> int:
        """What PyTorch has reserved and no tensor uses."""
        return self.reserved - self.allocated

    @property
    def text(self) -> str:
        """The message, in lines of a terminal's width."""
        others = f"Process 41713 has {size(self.others)} memory in use. " if self.others else ""
        limit = "" if self.limit is None else f"{size(self.limit)} allowed; "
        said = (
            "torch.OutOfMemoryError: CUDA out of memory. "
            f"Tried to allocate {size(self.request)}. GPU 0 has a total capacity of "
            f"{size(self.total)} of which {size(self.free)} is free. {others}"
            f"Including non-PyTorch memory, this process has {size(self.in_use)} memory in use. "
            f"{limit}Of the allocated memory {size(self.allocated)} is allocated by PyTorch, and "
            f"{size(self.cached)} is reserved by PyTorch but unallocated. {ADVICE}"
        )
        return fill(said, WIDEST, break_long_words=False, break_on_hyphens=False)


def size(number: int) -> str:
    """Return bytes as the message has them: two digits, up to 1,024 of a unit."""
    if number <= KIB:
        return f"{number} bytes"
    for most, one, name in ((MIB, KIB, "KiB"), (GIB, MIB, "MiB")):
        if number <= most:
            return f"{number / one:.2f} {name}"
    return f"{number / GIB:.2f} GiB"
