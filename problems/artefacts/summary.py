"""Rows of `torch.cuda.memory_summary(abbreviated=True)`.

Source: pytorch/pytorch torch/cuda/memory.py, `memory_summary`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.units import KIB

WIDTH = 75
UNITS = ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB")
# A number is said in the unit in which it has six digits at most.
MOST = 768 * KIB


@dataclass(frozen=True, kw_only=True)
class Row:
    """A metric, in bytes: now, at most, and all that was ever given and taken back."""

    name: str
    now: int
    peak: int
    given: int

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """The columns as they stand."""
        return self.now, self.peak, self.given, self.given - self.now


def summary(rows: tuple[Row, ...], *, failed: int, retries: int) -> str:
    """Return the head of the summary and these rows.

    Args:
        rows: the metrics, of a byte or more.
        failed: requests that failed.
        retries: times that the cache was emptied and the driver was asked again.
    """
    return "\n".join(_lines(rows, failed, retries))


def _lines(rows: tuple[Row, ...], failed: int, retries: int) -> Iterator[str]:
    double, single = f"|{'=' * WIDTH}|", f"|{'-' * WIDTH}|"
    yield double
    yield f"|{'':18}PyTorch CUDA memory summary, device ID {0:<17d} |"
    yield single
    yield f"|{'':12}CUDA OOMs: {failed:<12d} | {'':7}cudaMalloc retries: {retries:<8d}  |"
    yield double
    yield "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |"
    for row in rows:
        yield single
        yield f"| {row.name:<21} | {' | '.join(map(_size, row.cells))} |"
    yield double


def _size(number: int) -> str:
    unit = 0
    while number >= MOST and unit + 1 < len(UNITS):
        number //= KIB
        unit += 1
    return f"{number:6d} {UNITS[unit]}"
