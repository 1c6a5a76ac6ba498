"""Seeded chance: the same values on every machine, Python version and hash seed.

Each problem draws from a stream of its own, named by its kind and seed, so that adding a kind, or
drawing more in one, changes no other problem.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final

T = TypeVar("T")

DIGEST_BITS: Final = 512
# Seeds in a row that are kept apart by what they ask, and how often one looks for its own.
IN_A_ROW: Final = 200
MOST_TRIES: Final = 10 * IN_A_ROW


@final
class Draw:
    """A stream of values that (kind, seed) fixes.

    The n-th value comes from BLAKE2b over `kind@seed#n`; nothing else enters.

    Args:
        kind: name of the stream, without "@" and "#".
        seed: any whole number.
    """

    def __init__(self, kind: str, seed: int) -> None:
        self._stream = f"{kind}@{seed}"
        self._seed = seed
        self._drawn = 0

    def below(self, n: int) -> int:
        """Return a whole number in [0, n), each equally likely.

        Raises:
            ValueError: n is less than 1 or more than 2^512.
        """
        if not 1 <= n <= 1 << DIGEST_BITS:
            raise ValueError(f"cannot draw below {n}")
        bits = (n - 1).bit_length()
        # Numbers of `bits` bits are below n at least every second time; the others are drawn
        # again, since a remainder would prefer small values.
        while (value := self._next(bits)) >= n:
            pass
        return value

    def between(self, low: int, high: int) -> int:
        """Return a whole number in [low, high], each equally likely."""
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        """Return one of `items`, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, rows: Sequence[tuple[T, int]]) -> T:
        """Return the item of one of the (item, weight) rows, in proportion to its weight."""
        left = self.below(sum(weight for _, weight in rows))
        for item, weight in rows:
            if left < weight:
                return item
            left -= weight
        raise ValueError("a weight is negative")

    def sample(self, items: Sequence[T], size: int) -> tuple[T, ...]:
        """Return `size` different ones of `items` in drawn order.

        Raises:
            ValueError: there are fewer than `size` items.
        """
        rest = list(items)
        return tuple(rest.pop(self.below(len(rest))) for _ in range(size))

    def chance(self, percent: int) -> bool:
        """Return True in `percent` of 100 cases."""
        return self.below(100) < percent

    def unlike(self, make: Callable[[], T], key: Callable[[T], object] = repr) -> T:
        """Return what `make` draws, for which few figures are enough to be asked only once.

        Of 200 seeds in a row no two get what has the same `key`: each takes of what there is the
        200th part that a hash of the key puts down to it. Where it finds nothing, since there is
        too little, it takes what was drawn last.

        Args:
            make: draws the figures from this stream; it is called a few hundred times.
            key: what sets one question apart from another.
        """
        drawn = make()
        for _ in range(MOST_TRIES):
            if self._is_own(repr(key(drawn))):
                break
            drawn = make()
        return drawn

    def _is_own(self, key: str) -> bool:
        digest = hashlib.blake2b(key.encode(), digest_size=DIGEST_BITS // 8).digest()
        return (int.from_bytes(digest, "big") - self._seed) % IN_A_ROW == 0

    def _next(self, bits: int) -> int:
        text = f"{self._stream}#{self._drawn}"
        self._drawn += 1
        digest = hashlib.blake2b(text.encode(), digest_size=DIGEST_BITS // 8).digest()
        return int.from_bytes(digest, "big") >> (DIGEST_BITS - bits)
