"""A number of bytes or seconds, or a plain number."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from problems.answers.answer import Answer, Number
from problems.answers.numbers import amount, exact


@dataclass(frozen=True, kw_only=True)
class QuantityAnswer(Number, Answer):
    """One number, as `Number` describes it."""

    type = "quantity"

    @property
    def said(self) -> str:
        """The number with its unit: "25.27 GB = 23.53 GiB"."""
        return amount(self.value, self.unit)

    @property
    def as_json(self) -> dict[str, Any]:
        """The number, how it is asked for and how near is near."""
        return {
            "type": self.type,
            "value": exact(self.value),
            "unit": self.unit,
            "default_unit": self.default_unit,
            "band": self.band,
            "symbols": dict(self.symbols),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(
            value=Fraction(plain["value"]),
            unit=plain["unit"],
            default_unit=plain["default_unit"],
            band=plain["band"],
            symbols=plain["symbols"],
        )

    @property
    def number(self) -> Number:
        """Itself."""
        return self
