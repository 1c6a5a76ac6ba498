"""How many times larger something becomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from problems.answers.answer import Answer, Number
from problems.answers.numbers import amount, exact, rounded


@dataclass(frozen=True, kw_only=True)
class FactorAnswer(Answer):
    """How many times larger (or smaller, below 1) something becomes.

    Args:
        value: the factor.
        share: it is a share of something, which is no number of times.
    """

    type = "factor"

    value: Fraction
    share: bool = False

    @property
    def said(self) -> str:
        """The factor: "4 times"; a share is "0.018 (1.8%)"."""
        if self.share:
            return f"{amount(self.value, '1')} ({rounded(100 * self.value, 3)}%)"
        return f"{amount(self.value, '1')} times"

    @property
    def as_json(self) -> dict[str, Any]:
        """The factor, and whether it is a share."""
        return {"type": self.type, "value": exact(self.value), "share": self.share}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(value=Fraction(plain["value"]), share=plain["share"])

    @property
    def number(self) -> Number:
        """The factor as a plain number."""
        return Number(value=self.value, unit="1", default_unit=None)
