"""A whole number of things: right or wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.numbers import counted


@dataclass(frozen=True, kw_only=True)
class CountAnswer(Answer):
    """A whole number of things: right or wrong.

    Args:
        value: the number.
        noun: the things, as "GPUs"; "" where the number is none of things.
        before: what is said in front of such a number and may be typed there, as "ZeRO-".
        among: the numbers that the question names; none where it leaves them open.
        never: numbers that cannot be, and why: (3, "3 ranks cannot share 32 heads evenly").
    """

    type = "count"

    value: int
    noun: str = ""
    before: str = ""
    among: tuple[int, ...] = ()
    never: tuple[tuple[int, str], ...] = ()

    @property
    def said(self) -> str:
        """The number with its noun: "8 GPUs", "ZeRO-2"."""
        return f"{self.before}{self.value:,} {counted(self.value, self.noun)}".rstrip()

    @property
    def as_json(self) -> dict[str, Any]:
        """The number, what is counted, and which numbers the question names or cannot be."""
        return {
            "type": self.type,
            "value": self.value,
            "noun": self.noun,
            "before": self.before,
            "among": list(self.among),
            "never": [{"value": number, "why": why} for number, why in self.never],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(
            value=plain["value"],
            noun=plain["noun"],
            before=plain["before"],
            among=tuple(plain["among"]),
            never=tuple((one["value"], one["why"]) for one in plain["never"]),
        )

    def tells(self, wrong: Fraction) -> bool:
        """Return whether it is another number."""
        return wrong != self.value

    def apart(self, one: Fraction, other: Fraction) -> bool:
        """Return whether they are two numbers."""
        return one != other
