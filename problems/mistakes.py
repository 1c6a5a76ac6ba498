"""Every mistake by name: its share of the credit, and what went wrong, in a sentence.

Those of a whole step stand in `problems.wrong_ideas.known`, all others in `data/mistakes.toml`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType

from problems.problem import Mistake
from problems.wrong_ideas.registry import ideas

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
    """Return every mistake by name, slips of units first and ideas of a whole step last.

    Raises:
        ValueError: an idea of a step has the name of a row of the table, or a row lacks a key.
    """
    table = {one.name: one for one in _table()}
    of_steps = {one.name: one for one in _of_steps()}
    if twice := sorted(table.keys() & of_steps.keys()):
        message = f"in the table and in a file of its own: {', '.join(twice)}"
        raise ValueError(message)
    return MappingProxyType(table | of_steps)


def is_rare(name: str) -> bool:
    """Return whether a common mistake explains a number better than this one."""
    known = mistakes().get(name)
    return known is not None and known.rare


def share_of(mistake: Mistake) -> Fraction:
    """Return what an answer with a mistake earns, from 0 to below 1.

    Of several that yield the same it is the least; nothing where one is not known.
    """
    found = (mistakes().get(name) for name in (mistake.name, *mistake.also))
    return min(known.share if known else Fraction(0) for known in found)


def _table() -> Iterator[KnownMistake]:
    for name, row in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        if missing := {"share", "says"} - row.keys():
            message = f"{TABLE.name}: {name!r} has no {' and no '.join(sorted(missing))}"
            raise ValueError(message)
        yield KnownMistake(
            name=name,
            share=Fraction(row["share"]),
            says=row["says"],
            rare=row.get("rare", False),
        )


def _of_steps() -> Iterator[KnownMistake]:
    for idea in ideas():
        yield KnownMistake(name=idea.name, share=idea.share, says=idea.says, rare=idea.rare)
