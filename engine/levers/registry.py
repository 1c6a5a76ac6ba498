"""Every lever that a module of `engine.levers.known` defines: a file there is all it takes."""

from collections.abc import Mapping
from functools import cache

from engine.discovery import discovered, repeated
from engine.levers import known
from engine.levers.lever import Lever


@cache
def levers() -> Mapping[str, Lever]:
    """Return the levers by name, the least invasive first.

    Raises:
        TypeError: a module there has no `LEVER`.
        ValueError: two levers have a name or a short name in common.
    """
    found = sorted(
        discovered(known, "LEVER", Lever), key=lambda lever: (lever.invasiveness, lever.name)
    )
    names = (name.lower() for lever in found for name in (lever.name, *lever.short))
    if twice := repeated(names):
        message = f"named twice: {', '.join(twice)}"
        raise ValueError(message)
    return {lever.name: lever for lever in found}
