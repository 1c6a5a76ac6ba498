"""The lines of an interview that are commands; any other is said to the interviewer."""

from collections.abc import Mapping
from typing import Literal

from quiz.practice.commands import WORDS as PRACTISED
from quiz.practice.commands import Command as PractisedCommand

Command = PractisedCommand | Literal["pause"]

WORDS: Mapping[str, Command] = {
    **PRACTISED,
    **dict.fromkeys(("p", "pause"), "pause"),
}


def command_of(line: str) -> Command | None:
    """Return the command that a whole line is, or None."""
    return WORDS.get(line.strip().lower())
