"""The words that are commands and no answers."""

import re
from collections.abc import Mapping
from typing import Literal

Command = Literal["hint", "help", "reading", "skip", "why", "undo", "quit"]

WORDS: Mapping[str, Command] = {
    **dict.fromkeys(("h", "hint"), "hint"),
    **dict.fromkeys(("?", "help"), "help"),
    **dict.fromkeys(("r", "reading"), "reading"),
    **dict.fromkeys(("s", "skip", "pass"), "skip"),
    **dict.fromkeys(("w", "why", "solution", "give up"), "why"),
    **dict.fromkeys(("u", "undo"), "undo"),
    **dict.fromkeys(("q", "quit", "exit", "stop"), "quit"),
}

# With such a sign behind it, r begins an order.
ORDERED = r"[<>=,→]|~\s*\D"
TO_BE_READ = re.compile(
    rf"\s*(?P<key>r|reading)(?:\s*:\s*|\s+)(?P<answer>(?!{ORDERED})\S.*)",
    re.IGNORECASE | re.DOTALL,
)


def command_of(line: str) -> Command | None:
    """Return the command that a line is, or None."""
    return WORDS.get(line.strip().lower())


def to_be_read(line: str) -> tuple[str, str] | None:
    """Return the key and the answer of "r 37 GB", which asks how that would be read."""
    found = TO_BE_READ.fullmatch(line)
    return (found["key"].lower(), found["answer"]) if found else None


def overrules(line: str) -> bool:
    """Say whether a line behind a verdict puts the learner's own mark: "o partial", "overrule"."""
    words = line.lower().split()
    return bool(words) and words[0] in {"o", "overrule"} and len(words) <= 2
