"""What every type of answer knows of itself, so that nothing else needs to ask for its type."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

Band = Literal["count", "estimate"]
Unit = Literal["bytes", "s", "1"]

# The largest relative distance that earns all of the credit.
FULL_CREDIT: Mapping[Band, Fraction] = {
    "count": Fraction(2, 100),
    "estimate": Fraction(15, 100),
}
# Two wrong numbers that are nearer to each other cannot be told apart.
APART = Fraction(3, 100)


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number of bytes or seconds, or a plain number where `unit` is "1".

    Args:
        value: the reference, exact.
        unit: "bytes", "s" or "1".
        default_unit: the unit that a bare number takes, as the prompt states; None for a count.
        band: how near is full credit: "count" 2%, "estimate" 15%.
        symbols: the problem's own symbols, which an answer may use.
    """

    value: Fraction
    unit: Unit = "bytes"
    default_unit: str | None = "GB"
    band: Band = "count"
    symbols: Mapping[str, int] = field(default_factory=dict)


class Answer(ABC):
    """The right answer to a problem.

    A type of answer is a file here, with a frozen dataclass, and a file of the same name in
    `quiz/marking/known`, which reads and marks what is typed.

    Attributes:
        type: its name in JSON.
    """

    type: ClassVar[str]

    @property
    @abstractmethod
    def said(self) -> str:
        """The right answer in words: "25.27 GB = 23.53 GiB", "8 GPUs", "no, 93.1 GB"."""

    @property
    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Plain values, `type` among them; an exact number as `numbers.exact` writes it.

        All that marking reads is there, so that `from_json` gives an equal answer.
        """

    @classmethod
    @abstractmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote.

        Raises:
            KeyError: a value is missing.
            ValueError: the values do not fit each other.
        """

    @property
    def number(self) -> Number | None:
        """The number that is asked for, by itself or as a proof; None where none is."""
        return None

    @property
    def parts(self) -> Mapping[str, "Answer"]:
        """By name, the answers that it is made of; none where it is one by itself."""
        return {}

    @property
    def alone(self) -> Mapping[str, str]:
        """By letter or short name, all that an answer may be by itself: what says the same."""
        numbers = (self.number, *(part.number for part in self.parts.values()))
        return {name: f"1*{name}" for one in numbers if one for name in one.symbols}

    def part(self, name: str) -> "Answer":
        """Return the part with this name, by itself; the whole where there is none."""
        return self.parts.get(name, self)

    def tells(self, wrong: Fraction) -> bool:
        """Return whether a wrong number earns less than all of the credit.

        An order, a pick and a reason are no numbers: no number is wrong there.
        """
        asked = self.number
        if asked is None:
            return False
        return abs(wrong - asked.value) > FULL_CREDIT[asked.band] * asked.value

    def apart(self, one: Fraction, other: Fraction) -> bool:
        """Return whether two wrong numbers can be told apart."""
        return max(one, other) > (1 + APART) * min(one, other)
