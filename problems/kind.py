"""What a kind of problem is, and how a function becomes one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps

from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Level

Make = Callable[[Draw], Draft | None]
MakeAt = Callable[[Draw, Level], Draft | None]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of problem.

    Args:
        name: what stands before the "@" of a problem's id.
        topic: a key of `problems.problem.TOPICS`.
        levels: whom it is for; the seed decides at which of them a problem is posed.
        title: what it asks, in a few words.
        sources: where its facts stand, or who asks such questions.
        allows: rules of `memquiz check` that it cannot keep, by name, and why each.
        make: makes a draft of what it draws, at a level; None means that what was drawn is no
            good question and that it wants to draw on.
    """

    name: str
    topic: str
    levels: tuple[Level, ...]
    title: str
    sources: tuple[str, ...]
    make: MakeAt
    allows: Mapping[str, str] = field(default_factory=dict)

    def level_of(self, seed: int) -> Level:
        """Return the level at which the problem with this seed is posed."""
        return self.levels[seed % len(self.levels)]

    def seed_at(self, level: str, drawn: int) -> int:
        """Return the seed nearest below or above `drawn` that is posed at `level`.

        Raises:
            ValueError: the kind is not posed at this level.
        """
        wanted = [at for at, one in enumerate(self.levels) if one == level]
        if not wanted:
            message = f"{self.name} is not posed at {level} level"
            raise ValueError(message)
        return drawn - drawn % len(self.levels) + wanted[0]


def kind(
    *,
    name: str,
    topic: str,
    level: Level,
    title: str,
    sources: tuple[str, ...],
    allows: Mapping[str, str] | None = None,
) -> Callable[[Make], Kind]:
    """Return a decorator that turns a function of a `Draw` into a kind of one level; see `Kind`.

    A kind is found where it stands, as a name in a module below `problems.bank`.
    """

    def register(make: Make) -> Kind:
        @wraps(make)
        def make_at(draw: Draw, _: Level) -> Draft | None:
            return make(draw)

        return Kind(
            name=name,
            topic=topic,
            levels=(level,),
            title=title,
            sources=sources,
            make=make_at,
            allows=allows or {},
        )

    return register


def kind_at_levels(
    *,
    name: str,
    topic: str,
    levels: tuple[Level, ...],
    title: str,
    sources: tuple[str, ...],
    allows: Mapping[str, str] | None = None,
) -> Callable[[MakeAt], Kind]:
    """Return a decorator for a kind that is posed at several levels.

    It turns a function of a `Draw` and a level into the kind; see `Kind`.
    """

    def register(make: MakeAt) -> Kind:
        return Kind(
            name=name,
            topic=topic,
            levels=levels,
            title=title,
            sources=sources,
            make=make,
            allows=allows or {},
        )

    return register
