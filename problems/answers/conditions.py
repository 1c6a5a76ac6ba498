"""The conditions that an answer depends on, and the number under those that were stated."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

from problems.answers.answer import Answer
from problems.answers.numbers import amount, exact

Measure = Literal["peak", "activations"]


@dataclass(frozen=True, kw_only=True)
class ConditionsAnswer(Answer):
    """Which conditions matter, and the bytes under them: half of the credit each.

    The number is held to the conditions that were stated; those that were left out are as in the
    problem's scenario.

    Args:
        open: the conditions that the question leaves open, keys of `problems.stated.CONDITIONS`.
        given: those that it gives, as the problem's scenario has them.
        measure: what is asked for: the peak before the optimizer's step, or what all layers save.
        value: bytes of the problem's own scenario, as an example.
        example: its conditions in words.
    """

    type = "conditions"

    open: tuple[str, ...]
    given: tuple[str, ...] = ()
    measure: Measure
    value: Fraction
    example: str

    @property
    def said(self) -> str:
        """An example: "mixed precision, AdamW, b = 1: 118.2 GB = 110.1 GiB"."""
        return f"{self.example}: {amount(self.value, 'bytes')}"

    @property
    def as_json(self) -> dict[str, Any]:
        """What is open and given, what is asked for, and the example."""
        return {
            "type": self.type,
            "open": list(self.open),
            "given": list(self.given),
            "measure": self.measure,
            "value": exact(self.value),
            "example": self.example,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(
            open=tuple(plain["open"]),
            given=tuple(plain["given"]),
            measure=plain["measure"],
            value=Fraction(plain["value"]),
            example=plain["example"],
        )
