"""One quantity over several rows: "DDP 112 GB, ZeRO-1 38.5 GB, ZeRO-2 26.3 GB"."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.terms import Term, TermsAnswer


@dataclass(frozen=True, kw_only=True)
class TableAnswer(TermsAnswer):
    """The same quantity in several cases, each case a term.

    Args:
        over: what the rows are, as a plural: "stages", "lengths".

    Raises:
        ValueError: as `TermsAnswer`, or the rows are not of one unit and band.
    """

    type = "table"

    over: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if faults := [*_faults(self)]:
            raise ValueError("; ".join(faults))

    @property
    def as_json(self) -> dict[str, Any]:
        """The rows and what they are."""
        return super().as_json | {"over": self.over}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        return cls(terms=tuple(map(Term.from_json, plain["terms"])), over=plain["over"])


def _faults(table: TableAnswer) -> Iterator[str]:
    numbers = [term.answer.number for term in table.terms]
    if len({number and (number.unit, number.default_unit, number.band) for number in numbers}) > 1:
        yield "the rows are not of one unit and band"
