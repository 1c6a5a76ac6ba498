"""A step's time as a sum of terms, each an amount of work over a rate."""

from dataclasses import dataclass, replace
from enum import Enum


class Resource(Enum):
    """What a term keeps busy."""

    PRODUCTS = "matrix products"
    MEMORY = "GPU memory"
    LINK = "links between GPUs"
    HOST = "the host and its wire"
    IDLE = "nothing"


@dataclass(frozen=True, kw_only=True)
class Term:
    """One part of a step's time on one rank.

    Attributes:
        amount: how much work, counted: FLOPs, bytes, parameters or micro-batches.
        unit: "FLOP", "B", "operator", "parameter" or "micro-batch".
        rate: amount a second.
        messages: how many messages or collectives it takes.
        latency: seconds of each, beyond its bytes.
        hidden: share of its time in which other terms run at the same time, 0 to 1; an assumption
            that `why` names.
        why: one sentence that a candidate could say aloud.
        source: where the count and the overlap are from; `rate_source` has that of the rate.
    """

    name: str
    resource: Resource
    amount: int
    unit: str
    rate: float
    messages: int = 0
    latency: float = 0.0
    hidden: float = 0.0
    why: str
    source: str
    rate_source: str

    @property
    def busy_seconds(self) -> float:
        """Seconds that the work takes, hidden or not."""
        return self.amount / self.rate + self.messages * self.latency

    @property
    def seconds(self) -> float:
        """Seconds that it adds to the step."""
        return self.busy_seconds * (1 - self.hidden)

    def times(self, count: int) -> "Term":
        """Return `count` of it, one after another."""
        return replace(self, amount=count * self.amount, messages=count * self.messages)


@dataclass(frozen=True, kw_only=True)
class StepTime:
    """One optimizer step, term by term.

    In a pipeline these are the micro-batches of the slowest stage, and the end of the stage where
    that takes longest.
    """

    terms: tuple[Term, ...]

    @property
    def seconds(self) -> float:
        """Seconds of the whole step."""
        return sum(term.seconds for term in self.terms)

    @property
    def flops(self) -> int:
        """FLOPs of the rank's matrix products."""
        return self._amount(Resource.PRODUCTS, "FLOP")

    @property
    def communication_bytes(self) -> int:
        """Bytes that the rank sends to other GPUs, hidden or not."""
        return self._amount(Resource.LINK, "B")

    @property
    def host_bytes(self) -> int:
        """Bytes between the rank and its host's memory or drives, both ways together."""
        return self._amount(Resource.HOST, "B")

    def seconds_of(self, resource: Resource) -> float:
        """Return the seconds that the terms of one resource add to the step."""
        return sum(term.seconds for term in self.terms if term.resource is resource)

    def _amount(self, resource: Resource, unit: str) -> int:
        return sum(
            term.amount for term in self.terms if term.resource is resource and term.unit == unit
        )
