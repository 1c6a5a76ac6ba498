"""The things that a name means, or what is near to it."""

import re

from engine.errors import InputError, unknown
from quiz.explain.explanation import Explanation
from quiz.explain.things import Thing, things


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
        names = tuple(dict.fromkeys(said.lower() for one in every for said in one.names))
        raise InputError(unknown("TOPIC", name[:40], names))
    first, *others = (one.explain() for one in found)
    return first, *(one for one in others if one.sort != "line" or one.lines[0] not in first.lines)


def _begun(name: str, every: tuple[Thing, ...]) -> list[Thing]:
    """Return the one thing whose name has all of these words; none where several have."""
    words = _folded(name).split()
    near = [one for one in every if words and set(words) <= set(_folded(one.names[0]).split())]
    return near if len(near) == 1 else []


def _folded(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", name.lower()))
