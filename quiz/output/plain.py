"""Text for terminals that cannot show everything, and typed text made safe to show."""

import codecs
import sys
import unicodedata

HANDLER = "memquiz.plain"

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


def degrade() -> None:
    """Let stdout and stderr replace what their encoding lacks, and stdin replace bad bytes."""
    codecs.register_error(HANDLER, _replaced)
    for stream, errors in ((sys.stdout, HANDLER), (sys.stderr, HANDLER), (sys.stdin, "replace")):
        # Under a test runner or when closed, a stream may be something else or None.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_ascii(character) for character in missing), error.end


def _ascii(character: str) -> str:
    if character in NEAR:
        return NEAR[character]
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or "?"


def visible(typed: str) -> str:
    """Return `typed` with every character that moves a cursor or hides itself made a "·"."""
    return "".join(c if c.isprintable() else "·" for c in typed)
