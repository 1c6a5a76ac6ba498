"""The things that a name means, or what is near to it."""

import re
from collections.abc import Callable

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel, accelerator, model
from engine.errors import Fault, InputError, near
from quiz.explain.explanation import Explanation
from quiz.explain.things import Thing, things

NAMES = (
    "names are in memquiz catalog kinds, levers or mistakes, and in docs/ledger.md; "
    "models and cards in memquiz catalog models or gpus"
)
# Models or cards that have what was typed in their names, and are told one after another.
MOST = 4
SIZE = re.compile(r"\b(\d+) (gb|b)\b")


def explained(name: str) -> tuple[Explanation, ...]:
    """Return what is known of each thing that has the name; of lines, those told already are not.

    Raises:
        InputError: nothing has it, or too many models have; near names are told.
    """
    every = tuple(things())
    found = [one for one in every if _folded(name) in map(_folded, one.names)]
    for way in (_begun, _spelled, _partly):
        found = found or way(name, every)
    if not found:
        raise InputError(_unknown(name, every))
    if len(found) > MOST and found[0].catalogued:
        names = ", ".join(one.names[0] for one in found)
        what = f"{name.strip()[:40]!r} is a part of {len(found)} names"
        raise InputError(Fault("TOPIC", what, f"type one of {names}"))
    first, *others = (one.explain() for one in found)
    return first, *(one for one in others if one.sort != "line" or one.lines[0] not in first.lines)


def _unknown(name: str, every: tuple[Thing, ...]) -> Fault:
    """Return what to type in place of a name that nothing has."""
    shown = name.strip()[:40]
    if not shown:
        return Fault("TOPIC", "is empty", NAMES)
    names = tuple(dict.fromkeys(said.lower() for one in every for said in _typed(one)))
    return Fault("TOPIC", f"{shown!r} is not known", near(shown, names) or NAMES)


def _typed(one: Thing) -> tuple[str, ...]:
    """Return the names to be told: of a model or a card the one that is typed elsewhere."""
    return one.names[:1] if one.catalogued else one.names


def _spelled(name: str, every: tuple[Thing, ...]) -> list[Thing]:
    """Return the model or card that `--model` or `--gpu` takes the name for."""
    meant = {_catalogued(model, name), _catalogued(accelerator, name)} - {""}
    return [one for one in every if one.catalogued and one.names[0] in meant]


def _catalogued(of: Callable[[str], CatalogModel | Accelerator], name: str) -> str:
    try:
        return of(name).name
    except InputError:
        return ""


def _partly(name: str, every: tuple[Thing, ...]) -> list[Thing]:
    """Return the models or cards whose names have all of these words."""
    words = _sized(name)
    return [one for one in every if one.catalogued and words and words <= _sized(*one.names)]


def _sized(*names: str) -> set[str]:
    """Return the words of names, a size in one piece: "80 GB" as "80gb"."""
    return {word for name in names for word in SIZE.sub(r"\1\2", _folded(name)).split()}


def _begun(name: str, every: tuple[Thing, ...]) -> list[Thing]:
    """Return the one thing whose name has all of these words; none where several have."""
    words = _folded(name).split()
    near = [one for one in every if words and set(words) <= set(_folded(one.names[0]).split())]
    return near if len(near) == 1 else []


def _folded(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", name.lower()))
