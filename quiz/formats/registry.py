"""Every format by name: a file in `quiz.formats.known` is all it takes."""

from collections.abc import Mapping
from functools import cache

from engine.discovery import discovered, repeated
from quiz.formats import known
from quiz.formats.format import Format


@cache
def formats() -> Mapping[str, Format]:
    """Return every format by its name.

    Raises:
        TypeError: a module there has no `FORMAT`.
        ValueError: two have one name.
    """
    found = discovered(known, "FORMAT", Format)
    if twice := repeated(one.name for one in found):
        message = f"two files of {known.__name__} have the name {', '.join(twice)}"
        raise ValueError(message)
    return {one.name: one for one in found}
