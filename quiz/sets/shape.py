"""Whether plain JSON values have the shape that a JSON Schema says, and where they do not.

The part of JSON Schema that the schema of a key is written in, where every property is required
and no other is let pass: a key with a slip of the pen in its name would be no key at all.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, reduce
from operator import call
from typing import Any

from engine.errors import unknown
from engine.fields import show

Fits = Callable[[Any], bool]
TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
REF = "#/$defs/"
# A longer name of a property is cut where it is told.
LONGEST = 40


class Shape:
    """A JSON Schema, compiled: a key of a class has millions of values."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._known: dict[str, Fits] = {}

    @cached_property
    def fits(self) -> Fits:
        """Says whether a value has the shape."""
        return self._compiled(self._schema)

    def fault(self, value: object, part: str = "") -> str:
        """Return the first place that does not fit, with what stands there; "" where all fits.

        Args:
            value: plain JSON.
            part: the name of the definition that it should have the shape of; "" is the whole.
        """
        fits = self._named(part) if part else self.fits
        node = {"$ref": f"{REF}{part}"} if part else self._schema
        return "" if fits(value) else next(self._faults(node, value, ""))

    def _compiled(self, node: Mapping[str, Any]) -> Fits:
        if "$ref" in node:
            return self._named(node["$ref"].removeprefix(REF))
        return reduce(_both, self._tests(node))

    def _named(self, name: str) -> Fits:
        if name not in self._known:
            self._known[name] = self._compiled(self._schema["$defs"][name])
        return self._known[name]

    def _tests(self, node: Mapping[str, Any]) -> Iterator[Fits]:
        if "type" in node:
            yield _of_type(node["type"])
        yield from (test(node[key]) for key, test in KEYWORDS.items() if key in node)
        if "items" in node:
            yield _each(self._compiled(node["items"]))
        if "properties" in node:
            yield self._object(node)
        elif isinstance(node.get("additionalProperties"), dict):
            yield _each_value(self._compiled(node["additionalProperties"]))
        if forms := (*node.get("oneOf", ()), *node.get("anyOf", ())):
            yield _some([self._compiled(form) for form in forms])

    def _object(self, node: Mapping[str, Any]) -> Fits:
        keys = tuple(node["properties"])
        tests = [self._compiled(part) for part in node["properties"].values()]
        required = frozenset(keys)
        closed = node.get("additionalProperties") is False

        def fits(value: dict[str, Any]) -> bool:
            known = value.keys() == required if closed else required <= value.keys()
            return known and all(map(call, tests, [value[key] for key in keys]))

        return fits

    def _faults(self, node: Mapping[str, Any], value: object, where: str) -> Iterator[str]:
        """Yield what does not fit, as deep as it can be told."""
        node = self._meant(node)
        for part, one, place in self._parts(node, value, where):
            if not self._compiled(part)(one):
                yield from self._faults(part, one, place)
        yield f"{where.lstrip('.') or 'the whole'}: {_unfit(node, value)}"

    def _meant(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in node:
            return node
        found: Mapping[str, Any] = self._schema["$defs"][node["$ref"].removeprefix(REF)]
        return found

    def _parts(
        self, node: Mapping[str, Any], value: object, where: str
    ) -> Iterator[tuple[Mapping[str, Any], object, str]]:
        """Yield the parts of a value, and of several forms the one that it has by its type."""
        if isinstance(value, dict):
            for key, part in node.get("properties", {}).items():
                if key in value:
                    yield part, value[key], f"{where}.{key}"
            for form in map(self._meant, (*node.get("oneOf", ()), *node.get("anyOf", ()))):
                named = form.get("properties", {}).get("type", {}).get("const")
                if named is not None and named == value.get("type"):
                    yield form, value, where
        if isinstance(value, list) and "items" in node:
            yield from ((node["items"], one, f"{where}[{at}]") for at, one in enumerate(value))


def _unfit(node: Mapping[str, Any], value: object) -> str:
    """Return why a value is not of the shape of its node, where its parts are."""
    there = value if isinstance(value, dict) else {}
    if node.get("additionalProperties") is False:
        for key in there.keys() - node["properties"].keys():
            fault = unknown("", key[:LONGEST], [*node["properties"]])
            return f"{fault.what}; {fault.next}"
    lacks = [key for key in node.get("required", ()) if key not in there]
    if isinstance(value, dict) and lacks:
        return f"has no {lacks[0]!r}"
    if "type" in there and "oneOf" in node:
        return f"{show(there['type'])} is no type that is known"
    # what is said of an object tells what it is for, and of a number how it is written
    wants = node.get("description", "") if "anyOf" in node else ""
    what = "an empty list" if value == [] else show(value)
    return f"{what} does not fit there" + (f": {wants.rstrip('.')}" if wants else "")


def _of_type(names: str | list[str]) -> Fits:
    listed = [names] if isinstance(names, str) else names
    kinds = tuple(kind for name in listed for kind in TYPES[name])
    if bool in kinds:
        return lambda value: isinstance(value, kinds)
    return lambda value: isinstance(value, kinds) and not isinstance(value, bool)


def _both(one: Fits, other: Fits) -> Fits:
    return lambda value: one(value) and other(value)


def _each(item: Fits) -> Fits:
    return lambda value: all(map(item, value))


def _each_value(item: Fits) -> Fits:
    return lambda value: value is None or all(map(item, value.values()))


def _some(forms: list[Fits]) -> Fits:
    return lambda value: any(form(value) for form in forms)


def _pattern(pattern: str) -> Fits:
    search = re.compile(pattern).search
    return lambda value: search(value) is not None


# What the keywords ask of a value of their type.
KEYWORDS: Mapping[str, Callable[[Any], Fits]] = {
    "const": lambda wanted: lambda value: value == wanted and type(value) is type(wanted),
    "enum": lambda wanted: lambda value: isinstance(value, str | None) and value in wanted,
    "pattern": _pattern,
    "minLength": lambda least: lambda value: len(value) >= least,
    "minItems": lambda least: lambda value: len(value) >= least,
    "maximum": lambda most: lambda value: value <= most,
    "minimum": lambda least: lambda value: value >= least,
    "exclusiveMaximum": lambda limit: lambda value: value < limit,
}
