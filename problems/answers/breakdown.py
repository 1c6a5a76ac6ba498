"""The tensors that make up the bytes of a parameter: several breakdowns may be right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.answer import Answer

# What a parameter has in training, by the name that it is said with.
TENSORS = ("weights", "gradients", "master copy", "optimizer states")
# Bytes that each may have: a second, fp32 copy of the gradients makes 6; two moments of 8 bits 2.
WIDTHS: Mapping[str, frozenset[int]] = {
    "weights": frozenset({2, 4}),
    "gradients": frozenset({2, 4, 6}),
    "master copy": frozenset({4}),
    "optimizer states": frozenset({2, 4, 8}),
}
NEEDED = ("weights", "gradients", "optimizer states")


@dataclass(frozen=True, kw_only=True)
class BreakdownAnswer(Answer):
    """Tensors with their bytes a parameter that add up to a number.

    Args:
        total: the number.
        example: one breakdown that is right, tensor by tensor.
    """

    type = "breakdown"

    total: int
    example: Mapping[str, int]

    @property
    def said(self) -> str:
        """The example: "2 weights + 2 gradients + 4 master copy + 8 optimizer states = 16"."""
        return (
            f"{' + '.join(f'{each} {name}' for name, each in self.example.items())} = {self.total}"
        )

    @property
    def as_json(self) -> dict[str, Any]:
        """The number and the example."""
        return {"type": self.type, "value": self.total, "example": dict(self.example)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(total=plain["value"], example=plain["example"])
