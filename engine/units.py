"""Bytes in the units that people use: the only file in which 1000 and 1024 stand.

A size is an integer number of bytes everywhere else. GB is 10^9 bytes, GiB is 2^30 bytes.
"""

KB, MB, GB, TB = 1000, 1000**2, 1000**3, 1000**4
KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4

DECIMAL = (("TB", TB), ("GB", GB), ("MB", MB), ("kB", KB))
BINARY = (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))

COUNTS = (("T", 1000**4), ("B", 1000**3), ("M", 1000**2), ("K", 1000))


def _scaled(size: int, steps: tuple[tuple[str, int], ...], digits: int) -> str:
    for unit, one in steps:
        if abs(size) >= one:
            return f"{size / one:,.{digits}f} {unit}"
    return f"{size:,} B"


def decimal(size: int, *, digits: int = 2) -> str:
    """Return `size` bytes in kB, MB, GB or TB, the largest that gives at least 1."""
    return _scaled(size, DECIMAL, digits)


def binary(size: int, *, digits: int = 2) -> str:
    """Return `size` bytes in KiB, MiB, GiB or TiB, the largest that gives at least 1."""
    return _scaled(size, BINARY, digits)


def both(size: int, *, digits: int = 2) -> str:
    """Return `size` bytes as "34.50 GB = 32.13 GiB"; plain bytes below 1000."""
    if abs(size) < KB:
        return f"{size:,} B"
    return f"{decimal(size, digits=digits)} = {binary(size, digits=digits)}"


def count(number: int, *, digits: int = 2) -> str:
    """Return a count (parameters, tokens) as people say it: 6.74B, 774M, 512."""
    for unit, one in COUNTS:
        if abs(number) >= one:
            return f"{number / one:.{digits}f}{unit}"
    return str(number)
