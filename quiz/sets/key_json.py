"""The text of a key as plain JSON values, where every name stands once and every number is one."""

import json
from collections import Counter
from math import isinf
from typing import Any, NoReturn

from engine.errors import Fault, InputError
from engine.fields import show


def parsed(text: str, where: str) -> object:
    """Return the values that a text is.

    Raises:
        InputError: it is no JSON, an object has a name twice, or a number is none or too long.
    """
    try:
        found: object = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        what = "is not JSON that a key may be: it is nested too deeply"
    except ValueError as error:
        long = "digits" in str(error) and "limit" in str(error)
        what = f"is no key: {'a number in it has thousands of digits' if long else error}"
    else:
        return found
    raise InputError(Fault(where, what, "take the key.json of memquiz generate")) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        message = f"an object has {show(twice)} twice{_of(found)}"
        raise ValueError(message)
    return found


def _of(found: dict[str, Any]) -> str:
    """Return by what an object can be found."""
    named = next((key for key in ("id", "number", "name", "title") if key in found), "")
    return f", that with the {named} {show(found[named])}" if named else ""


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        message = f"{text[:40]} is too large a number"
        raise ValueError(message)
    return number


def _no_number(name: str) -> NoReturn:
    message = f"{name} is no number of JSON"
    raise ValueError(message)
