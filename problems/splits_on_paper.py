"""A step on Megatron-LM whose ranks share matrices or layers, as one adds it up on paper."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from engine.architecture import Architecture
from problems.on_paper import ends_of, parameters_of

# How near the room a peak may come before it is no clear answer.
NEAR = Fraction(6, 100)
# Bytes a parameter: 16-bit weights and fp32 gradients stay, what AdamW steps may be shared.
WHOLE, STEPPED = 6, 12


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What a step needs of an unsplit GPU, and how it is spread.

    Attributes:
        gpus: all of them, which a split shares with data parallelism.
        activations: bytes that all layers save for one micro-batch.
        logits: bytes of logits and loss.
        shares: whether data-parallel ranks share what is stepped (ZeRO-1).
    """

    shape: Architecture
    gpus: int
    activations: int
    logits: int
    shares: bool

    def each(self, degree: int) -> Fraction:
        """Return the bytes that a rank has for each parameter that it holds."""
        ranks = self.gpus // degree if self.shares else 1
        return WHOLE + Fraction(STEPPED, ranks)

    def states(self, degree: int) -> int:
        """Return the states of a rank with a part of every matrix."""
        return int(self.each(degree) * parameters_of(self.shape) / degree)

    def of_stage(self, degree: int) -> int:
        """Return the states of the first or last pipeline stage: its layers and one table."""
        table = self.shape.vocab * self.shape.hidden
        layers = parameters_of(self.shape) - ends_of(self.shape)
        return int(self.each(degree) * (Fraction(layers, degree) + table))

    def tensor(self, degree: int) -> int:
        """Return the peak of a tensor-parallel rank."""
        return self.states(degree) + (self.activations + self.logits) // degree

    def first_stage(self, degree: int) -> int:
        """Return the peak of the first pipeline stage: as many micro-batches as there are stages.

        Each is of a part of the layers, which comes to what one whole micro-batch saves.
        """
        return self.of_stage(degree) + self.activations

    def last_stage(self, degree: int) -> int:
        """Return the peak of the last one: one micro-batch, and logits and loss."""
        return self.of_stage(degree) + self.activations // degree + self.logits

    def pipeline(self, degree: int) -> int:
        """Return the larger of the two."""
        return max(self.first_stage(degree), self.last_stage(degree))


def smallest(degrees: tuple[int, ...], peak: Callable[[int], int], room: int) -> int:
    """Return the first of `degrees` whose peak is within `room`, 0 where none is."""
    return next((degree for degree in degrees if peak(degree) <= room), 0)


def is_clear(peaks: dict[int, int], right: int, room: int) -> bool:
    """Return whether the peak at `right` is well within the room, those before well above it."""
    if not right or peaks[right] > (1 - NEAR) * room:
        return False
    return all(peak >= (1 + NEAR) * room for at, peak in peaks.items() if at < right)
