"""The marker of each type of answer: a file in `quiz.marking.known` is all it takes."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.discovery import discovered, repeated
from problems.answers.answer import Answer
from quiz.marking import known
from quiz.marking.marker import Marker, Request


@cache
def markers() -> Mapping[type[Answer], Marker[Any]]:
    """Return every marker by the type of its answers.

    Raises:
        TypeError: a module there has no `MARKER`.
        ValueError: two of them mark one type.
    """
    found = discovered(known, "MARKER", Marker)
    if twice := repeated(marker.of.__name__ for marker in found):
        message = f"two files of {known.__name__} mark {', '.join(twice)}"
        raise ValueError(message)
    return {marker.of: marker for marker in found}


def marker_of(answer: Answer) -> Marker[Any]:
    """Return what marks answers like this one.

    Raises:
        KeyError: no file of `quiz.marking.known` does.
    """
    if type(answer) not in markers():
        message = f"no file of {known.__name__} has a marker of {type(answer).__name__}"
        raise KeyError(message)
    return markers()[type(answer)]


def forms_of(answer: Answer) -> tuple[str, ...]:
    """Return lines that a question which asks for this reads, as examples."""
    marker = marker_of(answer)
    return () if marker.forms is None else marker.forms(answer)


def request_of(answer: Answer) -> Request | None:
    """Return what stands below a question that asks for this; None where nothing does."""
    marker = marker_of(answer)
    return None if marker.request is None else marker.request(answer)
