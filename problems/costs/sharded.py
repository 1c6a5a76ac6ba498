"""A run under ZeRO-3 as questions on throughput state it: with the rates of its GPUs."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.costs import links
from engine.costs.computing import products_rate
from engine.scenario import Scenario
from engine.units import GB, TB
from problems.counted import gathered, reduced
from problems.wording import digits_of, short

FORWARD = 2


@dataclass(frozen=True, kw_only=True)
class Sharded:
    """A run under ZeRO-3 with the rates of its prompt, exact to three digits.

    Args:
        sharing: GPUs of a node that share what is one GPU's network card in the catalogue.
    """

    x: Scenario
    sharing: int

    @cached_property
    def flops(self) -> Fraction:
        """FLOP/s in matrix products."""
        return _three_digits(products_rate(self.x) / TB) * TB

    @cached_property
    def rate(self) -> Fraction:
        """Bytes a second over the ring of all GPUs."""
        ring = links.ring(self.x.hardware.linked, links.sharing(self.x))
        return _three_digits(ring.rate / self.sharing / GB) * GB

    @property
    def said(self) -> dict[str, object]:
        """What the prompt says of it."""
        return {
            "x": self.x,
            "flops": digits_of(self.flops / TB),
            "rate": short(self.rate / GB),
        }

    @property
    def parameters(self) -> int:
        """Parameters of the model."""
        return self.x.architecture.parameters

    @property
    def gathered_once(self) -> int:
        """Bytes that a GPU sends to gather all weights once."""
        return gathered(self.x) // (2 * self.x.workload.gradient_accumulation)

    @property
    def sending(self) -> Fraction:
        """Seconds of gathering all weights once."""
        return self.gathered_once / self.rate

    @property
    def computing(self) -> Fraction:
        """Seconds of the forward pass on paper."""
        return FORWARD * self.parameters * self.x.tokens / self.flops

    @property
    def sent(self) -> int:
        """Bytes that a GPU sends in one micro-batch."""
        return (gathered(self.x) + reduced(self.x)) // self.x.workload.gradient_accumulation

    @property
    def ring(self) -> str:
        """The share of a tensor that a ring sends: "63/64"."""
        return f"{self.x.parallel.data - 1}/{self.x.parallel.data}"


def _three_digits(value: float) -> Fraction:
    return Fraction(f"{value:.3g}")
