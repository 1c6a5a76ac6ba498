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
        rare: people make it so seldom that a number which a common one gives too is put down to
            that.
    """

    name: str
    share: Fraction
    says: str
    rare: bool = False


@cache
def mistakes() -> Mapping[str, KnownMistake]:
    """Return every mistake by name, slips of units first."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = (
        KnownMistake(
            name=name,
            share=Fraction(row["share"]),
            says=row["says"],
            rare=row.get("rare", False),
        )
        for name, row in rows.items()
    )
    return MappingProxyType({one.name: one for one in found})


def is_rare(name: str) -> bool:
    """Return whether a common mistake explains a number better than this one."""
    known = mistakes().get(name)
    return known is not None and known.rare


def share_of(name: str) -> Fraction:
    """Return what an answer with the mistake `name` earns; nothing where it is not known."""
    known = mistakes().get(name)
    return known.share if known else Fraction(0)
