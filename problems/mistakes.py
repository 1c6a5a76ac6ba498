"""Every mistake by name: its share of the credit, and what went wrong, in a sentence."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType

TABLE = Path(__file__).parent / "data" / "mistakes.toml"


@dataclass(frozen=True, kw_only=True)
class KnownMistake:
    """A mistake that answers are traced to.

    Args:
        name: as a problem and a verdict call it.
        share: what such an answer earns of the credit, from 0 to below 1.
        says: what went wrong, in a sentence without numbers.
    """

    name: str
    share: Fraction
    says: str


@cache
def mistakes() -> Mapping[str, KnownMistake]:
    """Return every mistake by name, slips of units first."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = (
        KnownMistake(name=name, share=Fraction(row["share"]), says=row["says"])
        for name, row in rows.items()
    )
    return MappingProxyType({one.name: one for one in found})


def share_of(name: str) -> Fraction:
    """Return what an answer with the mistake `name` earns; nothing where it is not known."""
    known = mistakes().get(name)
    return known.share if known else Fraction(0)
