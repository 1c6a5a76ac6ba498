"""From a typed formula to its tokens: numbers, letters, signs, each with its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Literal

from problems.answers.symbolic import Letter
from quiz.answers.normal import SUPERSCRIPTS, Text
from quiz.answers.quantity import RefusalError

Kind = Literal["number", "letter", "sign"]

NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
TEN_TO = re.compile(r"[eE]\+?(\d{1,2})(?!\d)")
WORD = re.compile(rf"[^\W\d{''.join(SUPERSCRIPTS)}]+")
SIGNS = {
    "✕": "*", "·": "*", "**": "^", "*": "*", "/": "/", "+": "+", "-": "-", "—": "-", "^": "^",
    "(": "(", ")": ")", "[": "(", "]": ")",
}  # fmt: skip
# A longer word is no product of letters, and would have too many readings.
LONGEST_WORD = 16
LONGEST_NUMBER = 16


@dataclass(frozen=True)
class Token:
    """A number, a letter by its name, or a sign."""

    kind: Kind
    start: int
    said: str
    value: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Split:
    """One way to read a word as letters: names with their places.

    Args:
        names: each letter with its place in the word.
        changed: how many were typed in the other case.
        aliases: how many were typed by another name than the question's.
    """

    names: tuple[tuple[str, int], ...]
    changed: int
    aliases: int

    @property
    def said(self) -> str:
        """The product as it may be typed: "t*p"."""
        return "*".join(name for name, _ in self.names)

    @property
    def doubled(self) -> bool:
        """Whether a letter stands in it twice: nobody types a square so."""
        names = [name for name, _ in self.names]
        return len(names) > len({*names})


class FormulaLexer:
    """Walks once over the text; `tokens` is its only result."""

    def __init__(self, text: Text, letters: Sequence[Letter]) -> None:
        self._plain = text.plain
        self._letters = letters
        self._spelled = {name: one.name for one in letters for name in (one.name, *one.aliases)}
        self._at = 0
        self._tokens: list[Token] = []
        self._aliased = False
        self._preferred: list[RefusalError] = []
        self.remarks: list[str] = []

    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens.

        Raises:
            RefusalError: with an index into the normalised text.
        """
        while self._at < len(self._plain):
            self._step(self._plain[self._at])
        # Beside pp for p, tp is as likely t as t*p.
        if self._aliased and self._preferred:
            raise self._preferred[0]
        return tuple(self._tokens)

    def _step(self, character: str) -> None:
        if character == " ":
            self._at += 1
        elif number := NUMBER.match(self._plain, self._at):
            self._number(number[0])
        elif character in SUPERSCRIPTS:
            self._superscript()
        elif word := WORD.match(self._plain, self._at):
            self._word(word[0])
        else:
            self._sign(character)

    def _number(self, typed: str) -> None:
        end = self._at + len(typed)
        power = None if self._has("e") else TEN_TO.match(self._plain, end)
        if len(typed) > LONGEST_NUMBER:
            raise RefusalError(self._at, "this number is too long for a formula")
        if self._plain[end : end + 1] in {",", "."} and self._plain[end + 1 : end + 2].isdigit():
            raise RefusalError(self._at, "this number has two readings; type one such as 0.5")
        value = Fraction(typed.replace(",", "")) * 10 ** int(power[1] if power else 0)
        end += len(power[0]) if power else 0
        self._add("number", self._plain[self._at : end], value)

    def _superscript(self) -> None:
        run = "".join(takewhile(SUPERSCRIPTS.__contains__, self._plain[self._at :]))
        power = "".join(SUPERSCRIPTS[one] for one in run)
        if not re.fullmatch(r"[+-]?\d{1,3}", power):
            raise RefusalError(self._at, "this is no power; type one such as ^2")
        self._tokens.append(Token("sign", self._at, "^"))
        if power[0] in "+-":
            self._tokens.append(Token("sign", self._at, power[0]))
        digits = power.lstrip("+-")
        self._tokens.append(Token("number", self._at, digits, Fraction(digits)))
        self._at += len(run)

    def _word(self, word: str) -> None:
        start = self._at
        for part in re.finditer(r"[xX]|[^xX]+", word) if not self._has("x") else [None]:
            typed, offset = (part[0], part.start()) if part else (word, 0)
            if part and typed in {"x", "X"}:
                self._tokens.append(Token("sign", start + offset, "*"))
                continue
            for name, at in self._split(typed, start + offset):
                self._tokens.append(Token("letter", at, name))
        self._at = start + len(word)

    def _has(self, letter: str) -> bool:
        return any(letter in name.lower() for name in self._spelled)

    def _split(self, word: str, start: int) -> tuple[tuple[str, int], ...]:
        """Return the letters that a word is the product of."""
        if len(word) > LONGEST_WORD:
            raise RefusalError(start, f"this word is no product of letters; {self._known}")
        furthest = [0]
        found = [*_splits(word, self._spelled, 0, furthest)]
        if not found:
            at = start + furthest[0]
            raise RefusalError(at, f"this has no meaning here; {self._known}")
        least = min(one.changed for one in found)
        best = {
            tuple(sorted(n for n, _ in one.names)): one for one in found if one.changed == least
        }
        split = self._meant(tuple(best.values()), start)
        if split.changed:
            self.remarks.append(f"read {word} as {'·'.join(name for name, _ in split.names)}")
        return tuple((name, start + at) for name, at in split.names)

    def _meant(self, splits: tuple[_Split, ...], start: int) -> _Split:
        """Return the way that is meant: a product of letters before a name, no letter twice."""
        left = [one for one in splits if not one.doubled] or [*splits]
        refusal = RefusalError(start, f"this may be {_either(splits)}; type the one that is meant")
        if len(left) > 1:
            plain = [one for one in left if not one.aliases]
            if len(plain) != 1:
                raise refusal
            self._preferred.append(refusal)
            left = plain
        self._aliased = self._aliased or left[0].aliases > 0
        return left[0]

    @property
    def _known(self) -> str:
        return "use " + ", ".join(f"{one.name} ({one.says})" for one in self._letters)

    def _sign(self, character: str) -> None:
        two = self._plain[self._at : self._at + 2]
        sign = two if two in SIGNS else character
        if sign not in SIGNS:
            raise RefusalError(self._at, "this sign is not known; use + - * / ^ and parentheses")
        self._add("sign", sign, said=SIGNS[sign])

    def _add(self, kind: Kind, typed: str, value: Fraction = Fraction(0), said: str = "") -> None:
        self._tokens.append(Token(kind, self._at, said or typed, value))
        self._at += len(typed)


def _splits(word: str, spelled: Mapping[str, str], at: int, furthest: list[int]) -> list[_Split]:
    """Return every way to read `word` from `at` on; `furthest` is how far any of them came."""
    furthest[0] = max(furthest[0], at)
    if at == len(word):
        return [_Split((), 0, 0)]
    found = []
    for spelling, name in spelled.items():
        typed = word[at : at + len(spelling)]
        if typed.lower() != spelling.lower():
            continue
        # Another case is read only where no letter has this one.
        changed = int(typed != spelling)
        if changed and typed in spelled:
            continue
        found += [
            _Split(
                ((name, at), *rest.names),
                changed + rest.changed,
                int(spelling != name) + rest.aliases,
            )
            for rest in _splits(word, spelled, at + len(spelling), furthest)
        ]
    return found


def _either(splits: Sequence[_Split]) -> str:
    return " or ".join(one.said for one in sorted(splits, key=lambda one: -len(one.names)))
