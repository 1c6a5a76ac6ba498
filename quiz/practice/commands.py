"""The words that are commands and no answers."""

from collections.abc import Mapping
from typing import Literal

Command = Literal["hint", "help", "skip", "why", "undo", "quit"]

WORDS: Mapping[str, Command] = {
    **dict.fromkeys(("h", "hint"), "hint"),
    **dict.fromkeys(("?", "help"), "help"),
    **dict.fromkeys(("s", "skip", "pass"), "skip"),
    **dict.fromkeys(("w", "why", "solution", "give up"), "why"),
    **dict.fromkeys(("u", "undo"), "undo"),
    **dict.fromkeys(("q", "quit", "exit", "stop"), "quit"),
}


def command_of(line: str) -> Command | None:
    """Return the command that a line is, or None."""
    return WORDS.get(line.strip().lower())


def overrules(line: str) -> bool:
    """Say whether a line behind a verdict puts the learner's own mark: "o partial", "overrule"."""
    words = line.lower().split()
    return bool(words) and words[0] in {"o", "overrule"} and len(words) <= 2
