"""What a kind of problem is, and how a function becomes one."""

from collections.abc import Callable
from dataclasses import dataclass

from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Level

Make = Callable[[Draw], Draft | None]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of problem.

    Args:
        name: what stands before the "@" of a problem's id.
        topic: a key of `problems.problem.TOPICS`.
        level: whom it is for.
        title: what it asks, in a few words.
        make: makes a draft of what it draws; None means that what was drawn is no good question
            and that it wants to draw on.
    """

    name: str
    topic: str
    level: Level
    title: str
    make: Make


def kind(*, name: str, topic: str, level: Level, title: str) -> Callable[[Make], Kind]:
    """Return a decorator that turns a function of a `Draw` into a kind; see `Kind`.

    A kind is found where it stands, as a name in a module of `problems.bank`.
    """

    def register(make: Make) -> Kind:
        return Kind(name=name, topic=topic, level=level, title=title, make=make)

    return register
