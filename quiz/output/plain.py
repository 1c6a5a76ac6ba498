"""Text for terminals that cannot show everything, and typed text made safe to show."""

import codecs
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

HANDLER = "memquiz.plain"
# Set to anything but 0, it asks for plain text as the option --plain does.
VARIABLE = "MEMQUIZ_PLAIN"
_ASKED: ContextVar[bool] = ContextVar("plain text is asked for", default=False)

# One character for one, so that columns stay aligned.
NEAR = {
    **dict.fromkeys("■█", "#"),
    **dict.fromkeys("□░", "."),
    **dict.fromkeys("·•●", "*"),
    **dict.fromkeys("\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}─━", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    "\N{MULTIPLICATION SIGN}": "x",
    "÷": "/",
    "≈": "~",
    "→": ">",
    "≤": "<",
    "≥": ">",
    "Ψ": "P",
    "…": "~",
}

# As many as are needed: plain text has no columns.
SPELLED = {
    **dict.fromkeys("■█□░│┃─━▶▸►", ""),
    "·": "*",
    "•": "-",
    "\N{MULTIPLICATION SIGN}": "x",
    "≈": "about",
    "≃": "about",
    "→": "to",
    "≤": "<=",
    "≥": ">=",
    "≠": "is not",
    "±": "+/-",
    "…": "...",
    "Ψ": "Psi",
    "Σ": "sum of",
    "ψ": "psi",
    "µ": "u",
    "∞": "infinity",
    "✓": "yes",
    "✗": "no",
}
FRACTION_SLASH = "\N{FRACTION SLASH}"
RAISED = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[ᵀ]")
BETWEEN = re.compile(r"\s+·\s+")


def plainly_asked() -> bool:
    """Say whether plain text is asked for, by an option or by the variable."""
    return _ASKED.get() or os.environ.get(VARIABLE, "") not in {"", "0"}


@contextmanager
def plainly() -> Iterator[None]:
    """Ask for plain text inside."""
    token = _ASKED.set(True)
    try:
        yield
    finally:
        _ASKED.reset(token)


def spelled(text: str) -> str:
    """Return `text` in ASCII for a voice to read: signs as words, "·" between parts a comma."""
    listed = BETWEEN.sub(", ", text)
    raised = RAISED.sub(lambda found: f"^{unicodedata.normalize('NFKD', found[0])}", listed)
    return "".join(c if c.isascii() else _spelled(c) for c in raised)


def _spelled(character: str) -> str:
    if character in SPELLED:
        return SPELLED[character]
    return _ascii(character)


def degrade() -> None:
    """Let stdout and stderr replace what their encoding lacks, and stdin replace bad bytes."""
    codecs.register_error(HANDLER, _replaced)
    if plainly_asked():
        only_ascii()
    for stream, errors in ((sys.stdout, HANDLER), (sys.stderr, HANDLER), (sys.stdin, "replace")):
        # Under a test runner or when closed, a stream may be something else or None.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)


def only_ascii() -> None:
    """Let stdout and stderr take nothing but ASCII, whoever writes to them."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="ascii", errors=HANDLER)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_ascii(character) for character in missing), error.end


def _ascii(character: str) -> str:
    if character in NEAR:
        return NEAR[character]
    apart = unicodedata.normalize("NFKD", character).replace(FRACTION_SLASH, "/")
    return apart.encode("ascii", "ignore").decode() or "?"


def visible(typed: str) -> str:
    """Return `typed` with every character that moves a cursor or hides itself made a "·"."""
    return "".join(c if c.isprintable() else "·" for c in typed)
