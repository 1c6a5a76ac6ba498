"""A typed answer as it was understood: exact where it is kept, plain for other programs."""

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Parsed = Fraction | bool | str | None | tuple["Parsed", ...] | Mapping[str, "Parsed"]
"""A number, an order as groups of keys, {yes, number}, or what else a type of answer reads."""

EXACT = "fraction"


def plain(parsed: Parsed) -> Any:  # noqa: ANN401 - JSON
    """Return JSON values in which a number is an int or, where it is not whole, a float."""
    return _values(parsed, float)


def written(parsed: Parsed) -> str | None:
    """Return JSON text from which `restored` makes the same again; None where nothing was read."""
    return None if parsed is None else json.dumps(_values(parsed, _fraction))


def restored(text: str | None) -> Parsed:
    """Return what `written` was given."""
    return None if text is None else _read(json.loads(text))


def _values(parsed: Parsed, broken: Callable[[Fraction], object]) -> Any:  # noqa: ANN401 - JSON
    """Return JSON values; `broken` writes a number that is not whole."""
    match parsed:
        case Fraction():
            return int(parsed) if parsed.denominator == 1 else broken(parsed)
        case tuple():
            return [_values(part, broken) for part in parsed]
        case Mapping():
            return {key: _values(part, broken) for key, part in parsed.items()}
        case _:
            return parsed


def _fraction(number: Fraction) -> dict[str, str]:
    return {EXACT: str(number)}


def _read(value: Any) -> Parsed:  # noqa: ANN401 - JSON
    match value:
        case bool() | str() | None:
            return value
        case int():
            return Fraction(value)
        case list():
            return tuple(map(_read, value))
        case dict() if value.keys() == {EXACT}:
            return Fraction(value[EXACT])
        case _:
            return {key: _read(part) for key, part in value.items()}
