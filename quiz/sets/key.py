"""The key of a set as plain JSON values: all that marking takes, in the shape of the schema.

`data/key.schema.json` is its JSON Schema. What an instructor changes in it counts: points, a right
value, a mistake. A key of an older version is read by what it holds, not by what the same version
and seed would draw today.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import Fault, InputError
from engine.fields import show, text_of
from problems.answers.numbers import exact
from problems.answers.registry import types
from problems.json_form import as_json, from_json
from problems.problem import Problem
from quiz.sets.csv_table import LARGEST
from quiz.sets.key_json import parsed
from quiz.sets.misfits import misfits
from quiz.sets.problem_set import ProblemSet, Slot, Student, Variant
from quiz.sets.schema import schema_text
from quiz.sets.shape import Shape

# Of the shape, not of memquiz; a key with a higher one is refused.
SHAPE = 1
# A formula may be as long as a person likes; where it is told it is cut.
SAID = 200
SCHEMA = "see memquiz generate --schema"
# What a value of another kind than the shape's raises where it is read.
UNFIT = (LookupError, TypeError, ValueError, ArithmeticError)


def key_of(problems: ProblemSet) -> dict[str, Any]:
    """Return the key: title, seed, version, slots, and each variant with its problems."""
    return {
        "shape": SHAPE,
        "memquiz": problems.version,
        "title": problems.title,
        "seed": problems.seed,
        "minutes": exact(problems.minutes),
        "points": exact(problems.points),
        "slots": [_slot_as_json(slot) for slot in problems.slots],
        "variants": [
            {
                "student": _student_as_json(variant.student),
                "problems": [as_json(problem) for problem in variant.problems],
            }
            for variant in problems.variants
        ],
    }


def key_text(problems: ProblemSet) -> str:
    """Return the key as it is written to a file: the same bytes for the same set."""
    return json.dumps(key_of(problems), ensure_ascii=False, indent=1) + "\n"


def read_key(path: Path) -> ProblemSet:
    """Read the key of a set.

    Raises:
        InputError: the file cannot be read, is no key or of a later shape, or listing the
            problems that cannot be read.
    """
    where = str(path)
    text = text_of(path, "key that memquiz generate wrote", largest=LARGEST)
    plain = parsed(text, where)
    if not isinstance(plain, dict) or "variants" not in plain or "shape" not in plain:
        raise InputError(Fault(where, "is no key", "name the key.json of memquiz generate"))
    if plain["shape"] != SHAPE:
        what = f"is a key of shape {plain['shape']!r}, and this memquiz reads {SHAPE}"
        raise InputError(Fault(where, what, f"use memquiz {plain.get('memquiz', '')} or newer"))
    return _set(plain, where)


def _set(plain: Mapping[str, Any], where: str) -> ProblemSet:
    faults: list[Fault] = []
    try:
        variants = tuple(_variants(plain, where, faults))
        found = ProblemSet(
            title=plain["title"],
            version=plain["memquiz"],
            seed=plain["seed"],
            slots=tuple(map(_slot_from_json, plain["slots"])),
            variants=variants,
        )
    except UNFIT as error:
        told = [] if faults else [Fault(where, _shape().fault(plain) or _said(error), SCHEMA)]
        raise InputError(*faults, *told) from None
    faults = faults or [*_unequal(found, where)]
    if not faults and (what := _shape().fault(plain)):
        faults = [Fault(where, what, SCHEMA)]
    faults = faults or [*_twice(found, where), *misfits(found, where)]
    if faults:
        raise InputError(*faults)
    return found


def _unequal(problems: ProblemSet, where: str) -> Iterator[Fault]:
    if not problems.variants:
        yield Fault(where, "has no variant")
    for variant in problems.variants:
        if len(variant.problems) != len(problems.slots):
            what = f"{len(variant.problems)} problems for {len(problems.slots)} slots"
            yield Fault(f"{where}, {variant.said}", what)


def _twice(problems: ProblemSet, where: str) -> Iterator[Fault]:
    for number, times in Counter(slot.number for slot in problems.slots).items():
        if times > 1:
            yield Fault(where, f"{times} slots have the number {show(number)}")
    students = [variant.student for variant in problems.variants]
    if None in students and len(students) > 1:
        yield Fault(where, "has a variant for everyone and others")
    for id_, times in Counter(one.id for one in students if one is not None).items():
        if times > 1:
            yield Fault(where, f"{times} variants are of the student {show(id_)}")


@cache
def _shape() -> Shape:
    """Return the shape of a key; of a type of answer that is not in its schema only the name."""
    schema = json.loads(schema_text())
    known = schema["$defs"]
    known["answer"]["oneOf"] += [
        {"type": "object", "properties": {"type": {"const": name}}, "required": ["type"]}
        for name in types()
        if name not in known
    ]
    return Shape(schema)


def _variants(plain: Mapping[str, Any], where: str, faults: list[Fault]) -> Iterator[Variant]:
    for at, one in enumerate(plain["variants"], 1):
        try:
            student = None if one["student"] is None else Student(**one["student"])
            problems = one["problems"]
        except (LookupError, TypeError) as error:
            what = _shape().fault(one, "variant") or _said(error)
            faults.append(Fault(f"{where}, variant {at}", what, SCHEMA))
            continue
        found = [_problem(each, f"{where}, variant {at}", faults) for each in problems]
        yield Variant(student=student, problems=tuple(each for each in found if each is not None))


def _problem(plain: object, where: str, faults: list[Fault]) -> Problem | None:
    if not isinstance(plain, dict):
        faults.append(Fault(where, f"{show(plain)} is no problem"))
        return None
    try:
        return from_json(plain)
    except (*UNFIT, AttributeError, InputError) as error:
        named = f"{where}, {plain.get('id', 'a problem')}"
        faults.append(Fault(named, _shape().fault(plain, "problem") or _said(error), SCHEMA))
        return None


def _said(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"has no {error.args[0]!r}, or none that is known"
    return str(error).splitlines()[0][:SAID] if str(error) else "cannot be read"


def _student_as_json(student: Student | None) -> dict[str, Any] | None:
    return None if student is None else {"id": student.id, "name": student.name}


def _slot_as_json(slot: Slot) -> dict[str, Any]:
    return {
        "number": slot.number,
        "kind": slot.kind,
        "topic": slot.topic,
        "level": slot.level,
        "type": slot.type,
        "points": exact(slot.points),
        "minutes": exact(slot.minutes),
        "same": slot.same,
    }


def _slot_from_json(plain: Mapping[str, Any]) -> Slot:
    return Slot(
        number=plain["number"],
        kind=plain["kind"],
        topic=plain["topic"],
        level=plain["level"],
        type=plain["type"],
        points=_number(plain["points"]),
        minutes=_number(plain["minutes"]),
        same=plain["same"],
    )


def _number(value: object) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        message = f"{show(value)} is no number"
        raise TypeError(message)
    return Fraction(str(value))
