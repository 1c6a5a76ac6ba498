"""Every type of answer by its name in JSON, and answers read back from it."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from engine.discovery import modules, repeated
from problems import answers
from problems.answers.answer import Answer


@cache
def types() -> Mapping[str, type[Answer]]:
    """Return every type of answer by its name: those that a file of this folder defines.

    Raises:
        ValueError: two of them have one name.
    """
    here = [f"{answers.__name__}.{name}" for name in modules(answers)]
    found = {
        value
        for module in here
        for value in vars(import_module(module)).values()
        if isinstance(value, type) and issubclass(value, Answer) and "type" in vars(value)
    }
    if twice := repeated(value.type for value in found):
        message = f"two types of answer have the name {', '.join(twice)}"
        raise ValueError(message)
    return {value.type: value for value in sorted(found, key=lambda value: value.type)}


def answer_from(plain: Mapping[str, Any]) -> Answer:
    """Return the answer that `Answer.as_json` wrote.

    Raises:
        KeyError: its type is not known, or a value is missing.
        ValueError: the values do not fit each other.
    """
    return types()[plain["type"]].from_json(plain)
