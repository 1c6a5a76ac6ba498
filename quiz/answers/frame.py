"""What stands around an answer: quotes, a label, a note in brackets, closing punctuation."""

import re
from dataclasses import dataclass

from quiz.answers.normal import Text
from quiz.answers.units_typed import typed_unit
from quiz.answers.words import LABELS, WORDS, Word

NOTE_PASSED = "the note in brackets was not read"
NO_FACTORIAL = "the exclamation mark was not read"

QUOTES = re.compile(r"""\s*(["'`])(?P<inside>[^"'`]*)\1\s*""")
LABEL = re.compile(r"\s*(?P<label>[A-Za-z']+(?: +[A-Za-z']+){0,3})\s*(?::=|[:=](?!=))")
PUNCTUATION = " .!?;,"
NOTE = re.compile(r"[(\[](?P<inside>[A-Za-z?+ ][A-Za-z ,.?+/'&-]*)[)\]]\s*$")
OPENING_NOTE = re.compile(r"\s*\((?P<inside>[A-Za-z ][A-Za-z ,.?+/'&-]*)\)")
# (fp16), behind a unit: it says nothing new. Behind "7B" it would.
FORMAT = re.compile(
    r"(?:(?<=[KMGT]B)|(?<=iB)|(?<=tes)) ?[(\[](?P<inside>(?:fp|bf|tf|int)\d+( [a-z]+)?)[)\]]\s*$",
    re.IGNORECASE,
)
PER = re.compile(r"\s*per[ -][A-Za-z]+\s*$", re.IGNORECASE)

# A note with one of these changes what the number means.
TELLING = {
    "op", "cardinal", "fraction", "and-fraction", "multiple", "scale", "fold", "same", "none",
    "refuse", "bound", "upfront", "per",
}  # fmt: skip


@dataclass(frozen=True)
class Framed:
    """The text with its surroundings blanked, so that every index stays where it was."""

    text: Text
    approximate: bool
    remarks: tuple[str, ...]


def unframe(text: Text) -> Framed:
    """Return `text` with what surrounds the answer blanked out."""
    plain, remarks = text.plain, []
    quoted = QUOTES.fullmatch(plain)
    if quoted:
        plain = _blank(plain, 0, quoted.start("inside"))
        plain = _blank(plain, quoted.end("inside"), len(plain))
    start = len(plain.rstrip(PUNCTUATION))
    asking = "?" in plain[start:]
    if plain[start : start + 1] == "!":
        remarks.append(NO_FACTORIAL)
    plain = _blank(plain, start, len(plain))
    label = LABEL.match(plain)
    named = _label(label.group("label")) if label else None
    if label and named:
        plain = _blank(plain, 0, label.end())
        asking = asking or named.kind == "approximate"
        remarks += [named.said] if named.kind == "remark" else []
    for note in (NOTE.search(plain), FORMAT.search(plain), OPENING_NOTE.match(plain)):
        inside = note.group("inside") if note else ""
        if note and PER.match(inside):
            plain = _blank(plain, note.start("inside") - 1, note.start("inside"))
            plain = _blank(plain, note.end("inside"), note.end("inside") + 1)
        elif note and (_hedged(inside) or _harmless(inside)):
            plain = _blank(plain, note.start(), note.end())
            remarks.append(NOTE_PASSED)
            asking = asking or _hedged(inside)
    return Framed(Text(plain, text.where), asking, tuple(remarks))


def _label(typed: str) -> Word | None:
    phrase = " ".join(typed.lower().split())
    known = LABELS.get(phrase) or WORDS.get(phrase)
    return known if known and known.kind in {"label", "skip", "approximate", "remark"} else None


def _hedged(note: str) -> bool:
    phrase = " ".join(note.lower().replace("?", " ").split())
    known = WORDS.get(phrase) or WORDS.get(phrase.removesuffix("."))
    return not phrase or (known is not None and known.kind == "approximate")


def _blank(plain: str, start: int, end: int) -> str:
    return plain[:start] + " " * (end - start) + plain[end:]


def _harmless(note: str) -> bool:
    words = re.findall(r"[a-z']+", note.lower())
    return not any(
        word == "b" or typed_unit(word) or (word in WORDS and WORDS[word].kind in TELLING)
        for word in words
    )
