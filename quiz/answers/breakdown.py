"""Reads tensors with their bytes: "2 weights + 4 fp32 grads + 4 master + 8 Adam = 18"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from quiz.answers.quantity import Unreadable

# The first name that occurs in a piece is what it is.
NAMES = (
    ("master copy", r"master\w*|fp32 cop(?:y|ies)(?: of (?:the )?weights)?"),
    ("gradients", r"grad\w*"),
    (
        "optimizer states",
        r"moment\w*|adam\w*|optimi[sz]er\w*|variances?|exp_avg(?:_sq)?|states?|\bm\b|\bv\b",
    ),
    ("weights", r"weights?|param\w*|model"),
)
# Widths in bits and numbers of tensors are no bytes.
NO_BYTES = re.compile(
    r"\b(?:(?:bf|fp|float|bfloat|int)\d+|\d+[ -]?bits?|\d+(?:st|n[d])|two|both|one)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d+)?(?![\w.])(?! ?[x×])|(?<![\w.])\d{1,3}(?= ?(?:b|bytes?)\b)"
)
TIMES = re.compile(r"(\d) ?[x×*] ?(\d)\b")
TOTAL = re.compile(
    r"=\s*(\d{1,3})\s*(?:b|bytes?)?(?:\s*(?:per|/|a|each)\s*param\w*)?\s*\.?\s*$", re.IGNORECASE
)
PIECE = re.compile(r"[^+,;]+")
LARGEST = 99


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """Tensors with their bytes a parameter, those of one name together."""

    parts: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(each for _, each in self.parts)

    @property
    def said(self) -> str:
        """How it was read."""
        return f"{' + '.join(f'{each} {name}' for name, each in self.parts)} = {self.total}"


def read_breakdown(text: str) -> Breakdown | Unreadable:
    """Read names of tensors, each with its bytes before or behind it, in any order."""
    said = TOTAL.search(text)
    body = text[: said.start()] if said else text
    sums: dict[str, int] = {}
    waiting = 0
    for start, piece in _pieces(body):
        number = _bytes(piece)
        name = _name(piece)
        if number is None:
            what = (
                "type its bytes, such as 4 master copy" if name else "type a tensor and its bytes"
            )
            return Unreadable(offset=start, reason=what)
        if name is None:
            if re.search(r"[A-Za-z]{3}", NO_BYTES.sub("", re.sub(r"(?i)bytes?", "", piece))):
                reason = "this is no tensor that is known here; such as 2 weights or 8 moments"
                return Unreadable(offset=start, reason=reason)
            waiting += number
            continue
        sums[name] = sums.get(name, 0) + number + waiting
        waiting = 0
    if waiting or not sums:
        reason = "say what the bytes are, such as 2 weights + 2 gradients"
        return Unreadable(offset=len(body.rstrip()), reason=reason)
    found = Breakdown(parts=tuple(sums.items()))
    if said and int(said[1]) != found.total:
        return Unreadable(offset=said.start(), reason=f"the parts add up to {found.total}")
    return found


def _pieces(body: str) -> Iterator[tuple[int, str]]:
    """Yield what stands between the signs, with its place; brackets say nothing."""
    plain = re.sub(r"[()\[\]]", " ", body)
    plain = re.sub(r"(?i)\band\b", lambda match: ",".ljust(len(match[0])), plain)
    for match in PIECE.finditer(plain):
        if piece := match[0].strip():
            yield match.start() + match[0].index(piece[0]), piece


def _bytes(piece: str) -> int | None:
    """Return the one whole number of bytes in a piece, "2 × 4" multiplied."""
    plain = NO_BYTES.sub(" ", piece)
    if times := TIMES.search(plain):
        return int(times[1]) * int(times[2])
    found = NUMBER.findall(plain)
    if len(found) != 1 or not found[0].isdecimal() or int(found[0]) > LARGEST:
        return None
    return int(found[0])


def _name(piece: str) -> str | None:
    found = ((name, re.search(words, piece, re.IGNORECASE)) for name, words in NAMES)
    return next((name for name, match in found if match), None)
