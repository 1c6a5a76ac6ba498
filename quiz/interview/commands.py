"""The lines of an interview that are commands; any other is said to the interviewer."""

from collections.abc import Mapping
from typing import Literal

from quiz.practice.commands import WORDS as PRACTISED

Command = Literal["hint", "help", "skip", "why", "undo", "quit", "pause", "reading"]

WORDS: Mapping[str, Command] = {
    **PRACTISED,
    **dict.fromkeys(("p", "pause"), "pause"),
    **dict.fromkeys(("r", "read", "reading"), "reading"),
}
READING = ("r", "reading")


def command_of(line: str) -> Command | None:
    """Return the command that a whole line is, or None."""
    return WORDS.get(line.strip().lower())


def to_read(line: str) -> str | None:
    """Return what stands behind "r": "37 GB" of "r 37 GB"; None where the line is no such one."""
    key, _, text = line.strip().partition(" ")
    return text.strip() if key.lower() in READING and text.strip() else None
