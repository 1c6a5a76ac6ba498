"""How much each feature of an answer speaks for a verdict, a core reason, a false statement.

Beside them the words and concepts of each statement that an answer may make.

The weights are learnt from labelled answers and from the claims' own sentences by
`benchmarks/claim_weights.py`; a claim has weights of its own beside those of all claims.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

WEIGHTS = Path(__file__).parents[1] / "data" / "claim_weights.json"
# A weight of 1 is kept as so many; so is a part of a statement, and a rarity.
UNIT = 50
PART = 100
# What is judged: the verdict is right, or hedged the wrong way, rather than wrong or absent; the
# core reason is given; something serious is false. In the order of the file.
HEADS = ("right", "hedged", "core", "false")

Weighed = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weights by feature: for all claims, and for each by its id.

    Args:
        learnt_from: the digest of the answers they were learnt from.
        general: for each feature its weight for each of `HEADS`, times `UNIT`.
        own: the same for the answers to one claim, by its id.
        rare: how rare a word or concept is: the logarithm of how many answers there are for one
            that has it, times `PART`.
        rarest: the same for one that no answer has.
        statements: by claim ("" for those of the whole field) and by id, how much of a statement
            each word or concept is, times `PART`.
    """

    learnt_from: str
    general: Mapping[str, Weighed]
    own: Mapping[str, Mapping[str, Weighed]]
    rare: Mapping[str, int]
    rarest: int
    statements: Mapping[str, Mapping[str, Mapping[str, float]]]

    def rarity(self, feature: str) -> float:
        """Return how rare a word or concept is."""
        return self.rare.get(feature, self.rarest) / PART

    def statement(self, claim: str, name: str) -> Mapping[str, float] | None:
        """Return how much of a statement, of a claim or of the field, each word or concept is.

        None where it came after the weights were learnt.
        """
        own = self.statements.get(claim, {})
        return own.get(name) or self.statements[""].get(name)

    def of(self, claim: str, feature: str) -> tuple[float, ...]:
        """Return the weight of a feature of an answer to a claim, for each of `HEADS`."""
        nothing = (0,) * len(HEADS)
        general = self.general.get(feature, nothing)
        own = self.own.get(claim, {}).get(feature, nothing)
        return tuple((a + b) / UNIT for a, b in zip(general, own, strict=True))


@cache
def weights() -> Weights:
    """Return the weights as the file has them."""
    table = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Weights(
        learnt_from=table["learnt_from"],
        general=_weighed(table["general"]),
        own=MappingProxyType({claim: _weighed(rows) for claim, rows in table["claims"].items()}),
        rare=MappingProxyType(table["rare"]),
        rarest=table["rarest"],
        statements=MappingProxyType(
            {claim: _statements(rows) for claim, rows in table["statements"].items()}
        ),
    )


def _weighed(rows: Mapping[str, list[int]]) -> Mapping[str, Weighed]:
    return MappingProxyType({feature: tuple(row) for feature, row in rows.items()})


def _statements(rows: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, float]]:
    return MappingProxyType(
        {name: {word: part / PART for word, part in row.items()} for name, row in rows.items()}
    )
