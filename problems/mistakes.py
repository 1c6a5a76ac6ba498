"""Every mistake by name: its share of the credit, and what went wrong, in a sentence.

Those of a whole step stand in `problems.wrong_ideas.known`, all others in `data/mistakes.toml`,
those of one's own kinds in a `mistakes.toml` beside them.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType

from engine.errors import Fault, InputError
from problems.own_folders import own_folders
from problems.problem import Mistake
from problems.wrong_ideas.registry import ideas

TABLE = Path(__file__).parent / "data" / "mistakes.toml"
BANK = "the bank (memquiz catalog mistakes)"


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


def mistakes() -> Mapping[str, KnownMistake]:
    """Return every mistake by name, slips of units first and ideas of a whole step behind them.

    Raises:
        ValueError: an idea of a step has the name of a row of the table, or a row lacks a key.
        InputError: a table of one's own cannot be read, or has a name that is taken.
    """
    return mistakes_with(own_folders())


@cache
def mistakes_with(folders: tuple[Path, ...]) -> Mapping[str, KnownMistake]:
    """Return every mistake, those of these folders last."""
    known = dict(_known())
    places = dict.fromkeys(known, BANK)
    for path in (folder / TABLE.name for folder in folders):
        own = _own(path) if path.exists() else {}
        # the same row again is no fault: folders of one course may share a mistake
        taken = [name for name, row in own.items() if known.get(name, row) != row]
        if taken:
            raise InputError(*(_taken(path, name, places[name]) for name in taken))
        places = dict.fromkeys(own, str(path)) | places
        known |= own
    return MappingProxyType(known)


def _taken(path: Path, name: str, place: str) -> Fault:
    what = f"{name!r} is there already, with another row, in {place}"
    return Fault(str(path), what, "leave the row out, or give it another name")


def _own(path: Path) -> Mapping[str, KnownMistake]:
    """Return the mistakes of a table of one's own."""
    try:
        return {one.name: one for one in _table(path)}
    except (ValueError, TypeError, AttributeError) as error:  # TOML's own error is a ValueError
        raise InputError(
            Fault(str(path), str(error), "a row is [name], share and says")
        ) from error


def _known() -> Mapping[str, KnownMistake]:
    table = {one.name: one for one in _table(TABLE)}
    of_steps = {one.name: one for one in _of_steps()}
    if twice := sorted(table.keys() & of_steps.keys()):
        message = f"in the table and in a file of its own: {', '.join(twice)}"
        raise ValueError(message)
    return table | of_steps


def is_rare(name: str) -> bool:
    """Return whether a common mistake explains a number better than this one."""
    known = mistakes().get(name)
    return known is not None and known.rare


def share_of(mistake: Mistake) -> Fraction:
    """Return what an answer with a mistake earns, from 0 to below 1.

    Of several that yield the same it is the least; nothing where one is not known.
    """
    if mistake.share is not None:
        return mistake.share
    found = (mistakes().get(name) for name in (mistake.name, *mistake.also))
    return min(known.share if known else Fraction(0) for known in found)


def _table(path: Path) -> Iterator[KnownMistake]:
    for name, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if missing := {"share", "says"} - row.keys():
            message = f"{path.name}: {name!r} has no {' and no '.join(sorted(missing))}"
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
