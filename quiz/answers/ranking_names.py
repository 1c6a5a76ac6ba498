"""What the items of an order may be typed as, and which item an unknown word may mean."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import final

from problems.answers.ranking import RankedItem, folded
from quiz.answers.ranking_text import plain_character
from quiz.answers.ranking_words import NUMERALS

RUNS = re.compile(r"[^\W\d_]+|\d+")
WORD = re.compile(r"[^\W_]+")
# What may stand between the parts of a name, or be left out: zero3, ZeRO-3, zero 3.
BETWEEN = " -_./'+"
WIDEST = 3
# Words of names that tell no item from another.
EMPTY = {"with", "from", "into", "only", "over", "each", "more", "less"}
SHORTEST = 4
# With fewer letters every name is one letter away from every other.
SHORTEST_TYPO = 3


@final
class Names:
    """The spellings of some items, found where they stand in a line of lower case.

    Args:
        items: their names may hold any signs.
    """

    def __init__(self, items: Sequence[RankedItem]) -> None:
        self._items = {item.key: item for item in items}
        spelled = sorted(
            ((name, item.key) for item in items for name in (item.name, *item.aliases)),
            key=lambda row: -len(folded(row[0])),
        )
        self._spelled = [(_parts_of_name(name), key) for name, key in spelled]
        self._patterns = [(_pattern(name).match, key) for name, key in spelled]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the items."""
        return tuple(self._items)

    @property
    def how(self) -> str:
        """How the items are named by their keys: "the numbers 1 to 4"."""
        noun = "numbers" if self.keys[0].isdigit() else "letters"
        return f"the {noun} {self.keys[0]} to {self.keys[-1]}"

    def name(self, key: str) -> str:
        """Return the name of an item."""
        return self._items[key].name

    def at(self, plain: str, at: int) -> tuple[str, int] | None:
        """Return the key of the item whose longest name stands at `at`, and where that ends."""
        for match_at, key in self._patterns:
            if match := match_at(plain, at):
                return key, match.end()
        return None

    def key_at(self, plain: str, at: int) -> tuple[str, int] | None:
        """Return the key that stands at `at` as a word of its own, or as a numeral in words."""
        match = WORD.match(plain, at)
        if match is None:
            return None
        key = NUMERALS.get(match.group(), match.group())
        return (key, match.end()) if key in self._items else None

    def together_at(self, plain: str, at: int) -> str:
        """Return the keys that stand at `at` without anything between, all of them: "1324"."""
        match = WORD.match(plain, at)
        if match and sorted(match.group()) == sorted(self.keys):
            return match.group()
        return ""

    def meant(self, phrase: str) -> str | None:
        """Return the key of the one item that has all words of `phrase` in a name."""
        keys = self._with(phrase)
        return keys[0] if len(keys) == 1 else None

    def advice(self, phrase: str) -> str:
        """Return what to type instead of `phrase`, which means no item. Nothing of it is told."""
        keys = self._with(phrase)
        if keys:
            return f"this may be {self._either(keys)}; type which"
        keys = [*self._near(phrase)]
        if keys:
            return f"this is none of the items; did you mean {self._either(keys)}?"
        if phrase.isdigit():
            return f"there is no such item; type {self.how}, each apart, or names"
        return f"this is none of the items; type {self.how}, or names"

    def _either(self, keys: Sequence[str]) -> str:
        listed = [f"{self.name(key)} ({key})" for key in self._items if key in keys]
        return " or ".join(listed)

    def _with(self, phrase: str) -> list[str]:
        words = set(_parts(phrase))
        if not any(len(w) >= SHORTEST and w.isalpha() and w not in EMPTY for w in words):
            return []
        return [*dict.fromkeys(key for parts, key in self._spelled if words <= {*parts})]

    def _near(self, phrase: str) -> Iterator[str]:
        typed = folded(phrase)
        if len(typed) < SHORTEST_TYPO:
            return
        for parts, key in self._spelled:
            if one_slip(typed, "".join(parts)):
                yield key


def one_slip(typed: str, name: str) -> bool:
    """Return whether one letter of `name` is wrong, missing, too many or in its neighbour's place.

    A digit is no slip: ZeRO-2 is not ZeRO-3.
    """
    if re.findall(r"\d", typed) != re.findall(r"\d", name):
        return False
    start = 0
    while start < min(len(typed), len(name)) and typed[start] == name[start]:
        start += 1
    end = 0
    while end < min(len(typed), len(name)) - start and typed[-1 - end] == name[-1 - end]:
        end += 1
    one, other = typed[start : len(typed) - end], name[start : len(name) - end]
    return max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])


def _parts(name: str) -> tuple[str, ...]:
    return tuple(RUNS.findall(name.lower()))


@cache
def _parts_of_name(name: str) -> tuple[str, ...]:
    return _parts(name)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a name whose parts may stand apart, with hyphens or together.

    Other questions rank the same things: each name is compiled once, and not once an answer.
    """
    pieces = RUNS.split("".join(map(plain_character, name)))
    parts = [re.escape(part) for part in _parts_of_name(name)]
    found = parts[0]
    for gap, part in zip(pieces[1:], parts[1:], strict=False):
        signs = re.escape("".join(sorted({*BETWEEN, *gap})))
        found += f"[{signs}]{{0,{max(WIDEST, len(gap) + 1)}}}{part}"
    return re.compile(rf"{found}(?![^\W_])")
