"""The words by which people judge, deny, hedge, quote and correct themselves."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDS = Path(__file__).parents[1] / "data" / "answer_words.toml"

Phrase = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Speech:
    """Phrases by the name that the table gives their list.

    Args:
        phrases: each as its words.
        words: those that are one word.
        by_first: phrases by their first word, the longest first.
    """

    phrases: Mapping[str, frozenset[Phrase]]
    words: Mapping[str, frozenset[str]]
    by_first: Mapping[str, Mapping[str, tuple[Phrase, ...]]]

    def longest_at(self, name: str, said: Sequence[str], at: int) -> Phrase | None:
        """Return the longest phrase of a list that stands at `at`."""
        begun = self.by_first[name].get(said[at], ())
        return next((p for p in begun if tuple(said[at : at + len(p)]) == p), None)

    def has(self, name: str, said: Sequence[str]) -> bool:
        """Return whether a phrase of a list stands anywhere in these words."""
        return any(self.longest_at(name, said, at) for at in range(len(said)))


@cache
def speech() -> Speech:
    """Return the table of words."""
    tables = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    phrases = {n: _phrases(listed) for table in tables.values() for n, listed in table.items()}
    words = {name: frozenset(p[0] for p in found if not p[1:]) for name, found in phrases.items()}
    by_first = {name: _by_first(found) for name, found in phrases.items()}
    return Speech(phrases=phrases, words=words, by_first=by_first)


def _phrases(listed: str) -> frozenset[Phrase]:
    return frozenset(tuple(entry.split()) for entry in listed.replace("\n", " ").split(","))


def _by_first(phrases: frozenset[Phrase]) -> Mapping[str, tuple[Phrase, ...]]:
    firsts = {phrase[0] for phrase in phrases}
    return {
        # Of two that stand in one place, one begins with the other, which the order has behind it.
        first: tuple(sorted((p for p in phrases if p[0] == first), reverse=True))
        for first in firsts
    }
