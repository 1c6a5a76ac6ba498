"""Every family that a module of `engine.families.known` defines: a file there is all it takes."""

from collections.abc import Mapping
from functools import cache

from engine.architecture import Architecture
from engine.discovery import discovered, repeated
from engine.families import known
from engine.families.family import Family


@cache
def families() -> Mapping[str, Family]:
    """Return the families by `model_type`.

    Raises:
        TypeError: a module there has no `FAMILY`.
        ValueError: two families have one `model_type`.
    """
    found = discovered(known, "FAMILY", Family)
    if twice := repeated(family.model_type for family in found):
        message = f"read twice: {', '.join(twice)}"
        raise ValueError(message)
    return {family.model_type: family for family in found}


def modelled_types() -> tuple[str, ...]:
    """Return the `model_type` of every family whose class the `hf` stack has lines for."""
    return tuple(name for name, family in families().items() if family.has)


def family_of(architecture: Architecture) -> Family | None:
    """Return the family whose class has these blocks; None where no modelled one has.

    Raises:
        ValueError: two families claim them.
    """
    found = [one for one in families().values() if one.has and one.has(architecture)]
    if len(found) > 1:
        message = f"claimed twice: {', '.join(family.model_type for family in found)}"
        raise ValueError(message)
    return found[0] if found else None
