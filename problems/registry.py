"""Every kind of problem by name, and problems from (kind, seed)."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from engine.discovery import repeated
from engine.errors import Fault, InputError, unknown
from problems import bank
from problems.draft import Draft
from problems.draw import Draw
from problems.json_form import as_json
from problems.kind import Kind
from problems.mistakes import share_of
from problems.own_folders import own_folders
from problems.own_kinds import installed, is_own, kinds_of, place_of, raised_by
from problems.problem import Level, Problem
from problems.telling import telling

__all__ = ["Kind", "as_json", "build", "from_id", "kinds", "problem_of", "tells"]

LARGEST_SEED = 10**12
ATTEMPTS = 500
# That a wrong number can be traced to; fewer mean that the usual ones earn full credit.
FEWEST_MISTAKES = 2


def kinds() -> Mapping[str, Kind]:
    """Return every kind by name, by topic and then as they stand in the bank.

    Those of one's own (`problems.own_folders`, installed packages) come behind a topic's others.

    Raises:
        InputError: a file of one's own cannot be read, or the name of its kind is taken.
    """
    return kinds_with(own_folders())


@cache
def kinds_with(folders: tuple[Path, ...]) -> Mapping[str, Kind]:
    """Return every kind of the bank, of installed packages and of these folders.

    Raises:
        InputError: a file of one's own cannot be read, or the name of its kind is taken.
    """
    own = [*installed(), *(value for folder in folders for value in kinds_of(folder))]
    named = {value.name: value for value in _of_bank()}
    faults = []
    for value in own:
        if value.name in named:
            what = f"the name {value.name} is taken, by {place_of(named[value.name])}"
            faults.append(Fault(place_of(value), what, "give the kind another"))
        named.setdefault(value.name, value)
    if faults:
        raise InputError(*faults)
    ordered = sorted(named.values(), key=lambda value: value.topic)
    return MappingProxyType({value.name: value for value in ordered})


def _of_bank() -> list[Kind]:
    found = pkgutil.walk_packages(bank.__path__, f"{bank.__name__}.")
    modules = (importlib.import_module(module.name) for module in found)
    values = [value for module in modules for value in vars(module).values()]
    kinds_found = [value for value in values if isinstance(value, Kind)]
    if twice := repeated(value.name for value in kinds_found):
        message = f"two kinds have the same name: {', '.join(twice)}"
        raise RuntimeError(message)
    return kinds_found


def build(kind: str, seed: int) -> Problem:
    """Return the problem `kind@seed`.

    Raises:
        InputError: there is no such kind, the seed is not in [0, 10^12], or a kind of one's own
            raises.
    """
    if kind not in kinds():
        raise InputError(unknown("problem kind", kind, tuple(kinds())))
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(_bad_seed(str(seed)))
    return _made(kinds()[kind], seed)


def from_id(text: str) -> Problem:
    """Return the problem with the id `text`, such as "zero-states@7".

    Raises:
        InputError: it is not a kind and a seed joined by "@"; every fault of the two is listed.
    """
    name, at, seed = text.strip().partition("@")
    if not at:
        fault = f"{text!r} is not a kind and a seed"
        raise InputError(Fault("problem id", fault, f"write it like {next(iter(kinds()))}@7"))
    faults = []
    if name not in kinds():
        faults.append(unknown("problem kind", name, tuple(kinds())))
    digits = seed if seed.isascii() and seed.isdecimal() else ""
    if (
        not digits
        or len(digits.lstrip("0")) > len(str(LARGEST_SEED))
        or int(digits) > LARGEST_SEED
    ):
        faults.append(_bad_seed(seed))
    if faults:
        raise InputError(*faults)
    return build(name, int(digits))


def _bad_seed(seed: str) -> Fault:
    shown = seed if len(seed) <= 20 else f"{seed[:20]}…"
    return Fault(
        "problem seed",
        f"{shown!r} is not a seed",
        f"give a whole number from 0 to {LARGEST_SEED:,}",
    )


def _made(kind: Kind, seed: int) -> Problem:
    """Return what a kind makes of a seed; what one's own raises is told as a fault of its file."""
    try:
        return _problem(kind, seed)
    except Exception as error:
        if not is_own(kind):
            raise
        fault = raised_by(kind, error, f"mend it, then memquiz check {kind.name}")
        raise InputError(fault) from error


def _problem(kind: Kind, seed: int) -> Problem:
    level = kind.level_of(seed)
    draft = _drafted(kind, Draw(kind.name, seed), level)
    return problem_of(draft, kind=kind.name, topic=kind.topic, level=level, seed=seed)


def problem_of(draft: Draft, *, kind: str, topic: str, level: Level, seed: int) -> Problem:
    """Return a draft as a problem, with those of its mistakes that tell something."""
    return Problem(
        kind=kind,
        topic=topic,
        level=level,
        seed=seed,
        prompt=draft.prompt,
        answer=draft.answer,
        hints=draft.hints,
        solution=draft.solution,
        mistakes=tuple(
            replace(one, share=share_of(one)) for one in telling(draft.answer, draft.mistakes)
        ),
        scenario=draft.scenario,
        exhibit=draft.exhibit,
    )


def _drafted(kind: Kind, draw: Draw, level: Level) -> Draft:
    for _ in range(ATTEMPTS):
        draft = kind.make(draw, level)
        if draft is not None and tells(draft):
            return draft
    raise RuntimeError(
        f"{kind.name} found no question in {ATTEMPTS:,} draws: "
        f"each was None, or fewer than {FEWEST_MISTAKES} of its mistakes miss full credit"
    )


def tells(draft: Draft) -> bool:
    """Say whether enough mistakes lie outside the tolerance of the right answer."""
    if draft.answer.number is None:
        return True
    return len(telling(draft.answer, draft.mistakes)) >= FEWEST_MISTAKES
