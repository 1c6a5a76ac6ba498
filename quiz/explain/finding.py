"""The things that a name means, or what is near to it."""

import re

from engine.catalog import accelerators, models
from engine.errors import Fault, InputError, near
from quiz.explain.explanation import Explanation
from quiz.explain.things import Thing, things

NAMES = (
    "names are in memquiz catalog kinds, levers or mistakes, and in docs/ledger.md; "
    "models and cards in memquiz catalog models or gpus"
)


def explained(name: str) -> tuple[Explanation, ...]:
    """Return what is known of each thing that has the name; of lines, those told already are not.

    Raises:
        InputError: nothing has it; near names are told.
    """
    every = tuple(things())
    found = [one for one in every if _folded(name) in map(_folded, one.names)]
    if not found:
        found = _begun(name, every)
    if not found:
        raise InputError(_unknown(name, every))
    first, *others = (one.explain() for one in found)
    return first, *(one for one in others if one.sort != "line" or one.lines[0] not in first.lines)


def _unknown(name: str, every: tuple[Thing, ...]) -> Fault:
    """Return what to type in place of a name that nothing has."""
    shown = name.strip()[:40]
    for table, rows in (("models", models()), ("gpus", accelerators())):
        if shown.lower() in rows:
            what = f"{shown!r} is in a catalog of its own"
            return Fault("TOPIC", what, f"memquiz catalog {table}")
    if not shown:
        return Fault("TOPIC", "is empty", NAMES)
    names = tuple(dict.fromkeys(said.lower() for one in every for said in one.names))
    return Fault("TOPIC", f"{shown!r} is not known", near(shown, names) or NAMES)


def _begun(name: str, every: tuple[Thing, ...]) -> list[Thing]:
    """Return the one thing whose name has all of these words; none where several have."""
    words = _folded(name).split()
    near = [one for one in every if words and set(words) <= set(_folded(one.names[0]).split())]
    return near if len(near) == 1 else []


def _folded(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", name.lower()))
