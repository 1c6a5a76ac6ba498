"""A right number as a solution may write it."""

from collections.abc import Set as AbstractSet

from problems.answers.answer import Number
from problems.served import kib
from problems.wording import gb, in_seconds, number, paper, short


def written(asked: Number) -> AbstractSet[str]:
    """Return how the last step of a solution says it, or a hint that gives it away."""
    if asked.unit == "s":
        return {in_seconds(asked.value)}
    if asked.unit == "1":
        return {short(asked.value), number(int(asked.value))}
    if asked.default_unit == "B":
        return {short(asked.value)}
    if asked.default_unit == "KiB":
        return {kib(asked.value)}
    return {gb(asked.value), paper(asked.value)}
