"""Every wrong idea of a step that a module of `problems.wrong_ideas.known` defines."""

from functools import cache

from engine.discovery import discovered, repeated
from problems.wrong_ideas import known
from problems.wrong_ideas.idea import Idea


@cache
def ideas() -> tuple[Idea, ...]:
    """Return the ideas by precedence, and then as they stand in the files.

    Raises:
        TypeError: a module there has no tuple `IDEAS` of ideas.
        ValueError: two ideas have the same name.
    """
    found = [idea for family in discovered(known, "IDEAS", tuple) for idea in family]
    if not all(isinstance(idea, Idea) for idea in found):
        raise TypeError("IDEAS holds something that is no Idea")
    if twice := repeated(idea.name for idea in found):
        message = f"named twice: {', '.join(twice)}"
        raise ValueError(message)
    return tuple(sorted(found, key=lambda idea: idea.precedence))
