"""Every wrong idea of a step that a module of `problems.wrong_ideas.known` defines."""

from collections.abc import Mapping
from functools import cache

from engine.discovery import discovered
from problems.peaks import Run
from problems.wrong_ideas import known
from problems.wrong_ideas.idea import Asked, Idea, Wrong


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
    names = [idea.name for idea in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        message = f"named twice: {', '.join(sorted(twice))}"
        raise ValueError(message)
    return tuple(sorted(found, key=lambda idea: idea.precedence))


def wrongs(run: Run, asked: Asked) -> Mapping[str, Wrong]:
    """Return what every idea makes of a run, by its name, where such a question is asked."""
    found = {idea.name: idea.of(run) for idea in ideas() if asked in idea.asked}
    return {name: wrong for name, wrong in found.items() if wrong is not None}
