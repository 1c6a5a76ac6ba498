"""A typed order cut into items and what stands between them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, final

from quiz.answers.quantity import RefusalError
from quiz.answers.ranking_names import Names
from quiz.answers.ranking_words import sign_at, word_at

TokenKind = Literal[
    "name",  # an item by name, `said` is its key
    "key",  # an item by its key
    "label",  # "1." or "(1)": an item's key, or the place of what follows
    "place",  # "1st"
    "order",
    "list",
    "tie",
    "first",
    "last",
    "open",
    "close",
]
ITEMS = {"name", "key", "label"}
JOINS = {"order", "list", "tie"}

ORDINAL = re.compile(r"(\d{1,2})(?:st|[nr]d|th)(?![^\W_])")
LABEL = re.compile(r"(\d{1,2}|[a-z])(?P<end> ?[.):])(?=\D|$)")
BRACKETED = re.compile(r"\((\d{1,2}|[a-z])\)")
UNKNOWN = re.compile(r"[^\s,;=>~≈|()\[\]{}<≥≤/&*:!?\"+—·#`]+")
# What a sign is, how it is called, and how much deeper in brackets the rest stands.
SIGNS: Mapping[str, tuple[TokenKind, str, int]] = {
    **dict.fromkeys("([{", ("open", "", 1)),
    **dict.fromkeys(")]}", ("close", "", -1)),
    "\n": ("list", "new line", 0),
}
TIGHT = re.compile(r"-\d")


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of the line, and where in the normalised line it begins."""

    kind: TokenKind
    start: int
    said: str = ""


@final
class RankingLexer:
    """Walks once over a line.

    Args:
        plain: in the spelling of `plain_line`.
        names: of the items.
    """

    def __init__(self, plain: str, names: Names) -> None:
        self._plain = plain
        self._names = names
        self._at = 0
        self._depth = 0

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens of the line.

        Raises:
            RefusalError: with an index into the line: a word or sign that is not known.
        """
        while self._at < len(self._plain):
            if self._plain[self._at] == " ":
                self._at += 1
            else:
                yield from self._next()

    def _next(self) -> Iterator[Token]:
        item = self._label() or self._item()
        if item:
            yield item
        elif self._plain[self._at] in SIGNS:
            yield self._bracket_or_line()
        elif meaning := word_at(self._plain, self._at) or sign_at(self._plain, self._at):
            kind, said, end = meaning
            if kind == "refuse":
                raise RefusalError(self._at, said)
            if kind == "skip":
                self._at = end
            else:
                yield self._token(kind, end, said)
        else:
            yield from self._others()

    def _bracket_or_line(self) -> Token:
        kind, said, deeper = SIGNS[self._plain[self._at]]
        self._depth += deeper
        return self._token(kind, self._at + 1, said)

    def _token(self, kind: TokenKind, end: int, said: str = "") -> Token:
        token = Token(kind=kind, start=self._at, said=said)
        self._at = end
        return token

    def _label(self) -> Token | None:
        """Return a number with the sign that makes it a label, or an ordinal."""
        if ordinal := ORDINAL.match(self._plain, self._at):
            return self._token("place", ordinal.end(), ordinal[1])
        match = BRACKETED.match(self._plain, self._at) or LABEL.match(self._plain, self._at)
        if match is None or (match.re is LABEL and ")" in match["end"] and self._depth):
            return None
        if not match[1].isdigit() and match[1] not in self._names.keys:
            return None
        return self._token("label", match.end(), match[1])

    def _item(self) -> Token | None:
        if found := self._names.at(self._plain, self._at):
            return self._named(*found)
        if found := self._names.key_at(self._plain, self._at):
            return self._token("key", found[1], found[0])
        return None

    def _named(self, key: str, end: int) -> Token:
        if TIGHT.match(self._plain, end):  # FA-2 is another thing than FA and 2
            reason = "a name and a number are joined here; type them apart"
            raise RefusalError(self._at, reason)
        phrase = self._phrase()
        if self._names.meant(phrase) == key:  # offload, and to CPU behind it
            end = max(end, self._at + len(phrase))
        return self._token("name", end, key)

    def _others(self) -> Iterator[Token]:
        together = self._names.together_at(self._plain, self._at)
        if together:
            for key in together:
                yield self._token("key", self._at + 1, key)
            return
        phrase = self._phrase()
        meant = self._names.meant(phrase)
        if meant is None:
            raise RefusalError(self._at, self._names.advice(phrase))
        yield self._token("name", self._at + len(phrase), meant)

    def _phrase(self) -> str:
        """Return the words from here up to a sign or to a word that is known."""
        end = behind = self._at
        while match := UNKNOWN.match(self._plain, behind):
            end = match.end()
            behind = len(self._plain) - len(self._plain[end:].lstrip(" "))
            if behind == end or self._known(behind):
                break
        return self._plain[self._at : end].rstrip(".-'")

    def _known(self, at: int) -> bool:
        found = self._names.at(self._plain, at) or self._names.key_at(self._plain, at)
        return bool(found or word_at(self._plain, at))
