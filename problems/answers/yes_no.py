"""Yes or no, and the number that proves it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.answer import Answer, Number
from problems.answers.numbers import amount
from problems.answers.quantity import QuantityAnswer


@dataclass(frozen=True, kw_only=True)
class YesNoAnswer(Answer):
    """Yes or no, and the number that proves it.

    Args:
        value: whether it is yes.
        proof: the number.
        difference: whether the number is what is left over with yes, and missing with no.
    """

    type = "yes-no"

    value: bool
    proof: QuantityAnswer
    difference: bool = False

    @property
    def said(self) -> str:
        """The verdict and its proof: "no, 93.1 GB = 86.71 GiB"."""
        return f"{'yes' if self.value else 'no'}, {amount(self.proof.value, self.proof.unit)}"

    @property
    def as_json(self) -> dict[str, Any]:
        """The verdict, its proof and whether that is a difference."""
        return {
            "type": self.type,
            "value": self.value,
            "proof": self.proof.as_json,
            "difference": self.difference,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        proof = QuantityAnswer.from_json(plain["proof"])
        return cls(value=plain["value"], proof=proof, difference=plain["difference"])

    @property
    def number(self) -> Number:
        """The proof."""
        return self.proof
