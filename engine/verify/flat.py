"""Flat weights in equal parts, one for each rank, as ZeRO-1 and 2 have them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.partition import ALIGNED


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Elements `start` to `start + count` of a weight, which `owner` steps."""

    owner: int
    start: int
    count: int


class Partition:
    """Weights as views of one flat tensor, of which each rank owns an equal part.

    Args:
        weights: the parameters, moved into the flat tensor.
        rank: of this process.
        ranks: how many there are.
    """

    def __init__(self, weights: Sequence[nn.Parameter], *, rank: int, ranks: int) -> None:
        self.weights, self.rank, self.ranks = weights, rank, ranks
        total = sum(weight.numel() for weight in weights)
        self.size = ALIGNED * -(-total // (ALIGNED * ranks))
        padding = weights[0].new_zeros(self.size * ranks - total)
        self.flat = torch.cat([*(weight.detach().flatten() for weight in weights), padding])
        self._offsets: list[int] = []
        offset = 0
        for weight in weights:
            self._offsets.append(offset)
            weight.data = self.flat[offset : offset + weight.numel()].view_as(weight)
            offset += weight.numel()

    @property
    def own(self) -> Tensor:
        """The flat part of this rank."""
        return self.flat.narrow(0, self.rank * self.size, self.size)

    def cuts(self, number: int) -> Iterator[Cut]:
        """Yield the parts of the weight of that number, by owner."""
        begin = self._offsets[number]
        end = begin + self.weights[number].numel()
        for owner in range(begin // self.size, -(-end // self.size)):
            first, last = max(begin, owner * self.size), min(end, (owner + 1) * self.size)
            yield Cut(owner=owner, start=first - begin, count=last - first)

    def held(self, number: int) -> Cut | None:
        """Return this rank's part of the weight of that number, if it has any."""
        return next((cut for cut in self.cuts(number) if cut.owner == self.rank), None)

    def numbers(self) -> list[int]:
        """Return the numbers of all weights of which this rank owns a part."""
        return [n for n in range(len(self.weights)) if self.held(n)]

    def place(self, number: int) -> slice:
        """Return where the weight's part lies within this rank's flat part."""
        cut = self.held(number)
        if cut is None:
            raise ValueError(number)
        begin = self._offsets[number] + cut.start - self.rank * self.size
        return slice(begin, begin + cut.count)
