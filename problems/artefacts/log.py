"""Logs of runs that die after a while: one row a step, each with one cause."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.units import GIB, MIB

Late = Literal["longest", "fragments", "leak", "evaluation", "save"]
HEAD = "   step   longest   live between steps   peak of the step   reserved"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row: what ran, the tokens of its longest sequence, and bytes.

    Args:
        what: a step's number, or "eval" or "save".
        tokens: of the longest sequence; 0 where there is none.
        live: allocated before it begins.
        peak: most that was allocated in it, or would have been.
        reserved: by PyTorch after it.
    """

    what: str
    tokens: int
    live: int
    peak: int
    reserved: int

    @property
    def text(self) -> str:
        """The row, in GiB."""
        tokens = f"{self.tokens:,}" if self.tokens else "-"
        sizes = (f"{size / GIB:.2f} GiB" for size in (self.live, self.peak, self.reserved))
        live, peak, reserved = sizes
        return f"{self.what:>7}   {tokens:>7}   {live:>18}   {peak:>16}   {reserved:>10}"


def log(rows: Sequence[Entry], failed: str) -> str:
    """Return the rows below their head, and what failed then."""
    return "\n".join(_lines(rows, failed))


def _lines(rows: Sequence[Entry], failed: str) -> Iterator[str]:
    yield HEAD
    for row in rows:
        yield row.text
    yield f"torch.OutOfMemoryError: CUDA out of memory, {failed}"


def to_pages(size: int) -> int:
    """Return bytes as reserved ones come, in 2 MiB."""
    return -(-size // (2 * MIB)) * 2 * MIB
