"""Commands as they can be typed here: `memquiz` need not be on the path of who reads them."""

import os
import re

# Set by bootstrap.py: the words that it was started with.
VARIABLE = "MEMQUIZ_COMMAND"
NAME = "memquiz"
VERBS = (
    "practice", "interview", "progress", "history", "solve", "levers", "verify", "generate",
    "grade", "check", "explain", "catalog",
)  # fmt: skip
COMMAND = re.compile(rf"\b{NAME}(?= (?:{'|'.join(VERBS)})\b)")


def started() -> str:
    """Return the words that start this program here."""
    return os.environ.get(VARIABLE) or NAME


def typed_here(text: str) -> str:
    """Return `text` with each command `memquiz …` in it as it is typed here."""
    return COMMAND.sub(lambda _: started(), text)
