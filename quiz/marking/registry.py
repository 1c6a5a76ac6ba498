"""The marker of each type of answer: a file in `quiz.marking.known` is all it takes."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.discovery import discovered
from problems.answers.answer import Answer
from quiz.marking import known
from quiz.marking.marker import Marker, Request


@cache
def markers() -> Mapping[type[Answer], Marker[Any]]:
    """Return every marker by the type of its answers.

    Raises:
        TypeError: a module there has no `MARKER`.
    """
    return {marker.of: marker for marker in discovered(known, "MARKER", Marker)}


def marker_of(answer: Answer) -> Marker[Any]:
    """Return what marks answers like this one.

    Raises:
        KeyError: no file of `quiz.marking.known` does.
    """
    return markers()[type(answer)]


def request_of(answer: Answer) -> Request | None:
    """Return what stands below a question that asks for this; None where nothing does."""
    marker = marker_of(answer)
    return None if marker.request is None else marker.request(answer)
