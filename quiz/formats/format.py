"""What a format is: a name, what it cannot carry, and how a set is written in it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from quiz.sets.problem_set import ProblemSet

Files = dict[PurePosixPath, bytes]
"""What is written, by its path in the folder of the set."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One way to write a set.

    Args:
        name: as it is typed.
        says: what it is, in a few words: "Moodle XML, for a question bank".
        cannot: what of a set it does not carry, each in a few words; none where it has all.
        files: returns what is written for a set, the same bytes for the same set.
        extra: the extra of `pyproject.toml` that brings what it needs; "" where nothing is.
    """

    name: str
    says: str
    cannot: tuple[str, ...] = ()
    files: Callable[[ProblemSet], Files]
    extra: str = ""
