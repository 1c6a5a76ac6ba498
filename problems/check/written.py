"""A right number as a solution may write it."""

from collections.abc import Set as AbstractSet

from engine.units import GIB, decimal
from problems.answers.answer import Answer, Number
from problems.answers.repair import RepairAnswer
from problems.served import kib
from problems.wording import digits_of, gb, in_seconds, number, paper, short


def written(answer: Answer) -> AbstractSet[str]:
    """Return how the last step of a solution says the number, or a hint that gives it away."""
    asked = answer.number
    if asked is None:
        return set()
    return _of_step(asked) if isinstance(answer, RepairAnswer) else _of(asked)


def _of(asked: Number) -> AbstractSet[str]:
    if asked.unit == "s":
        return {in_seconds(asked.value)}
    if asked.unit == "1":
        return {short(asked.value), number(int(asked.value))}
    if asked.default_unit == "B":
        return {short(asked.value)}
    if asked.default_unit == "KiB":
        return {kib(asked.value)}
    return {gb(asked.value), paper(asked.value)}


def _of_step(asked: Number) -> AbstractSet[str]:
    """Return how a worked answer says it, in the unit of its step."""
    if asked.default_unit in {None, "B"}:
        plain = {number(int(asked.value)), short(asked.value)}
        return plain | ({decimal(round(asked.value))} if asked.unit == "bytes" else set())
    return {decimal(round(asked.value)), f"{digits_of(asked.value / GIB)} GiB"}
