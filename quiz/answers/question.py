"""What a question wants, as far as the reading of its answer depends on it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from quiz.answers.units_typed import default_factor
from quiz.answers.words import CHANGE, COUNTED, OTHER_UNIT

Wanted = Literal["bytes", "ratio", "count", "number", "seconds"]
# Of what is wanted, for the advice of a refusal: a reason is written for a size in memory.
EXAMPLES: Mapping[Wanted, str] = {
    "bytes": "16 GB", "ratio": "4x", "count": "8", "number": "12.5", "seconds": "0.4 s",
}  # fmt: skip
# What is said of a plain number in place of what is said of one with a unit.
IN_PLAIN: Mapping[str, str] = {
    CHANGE: "say the result rather than the change: 1.1 for +10%, 0.25 for -75%",
    OTHER_UNIT: "a plain number is asked; type it without a unit",
}
WITH_UNIT = re.compile(r" with its unit\b")

RATIO = re.compile(
    r"\b(ratio|factor|fraction|share|percent|percentage|how many times)\b", re.IGNORECASE
)
SIZE = re.compile(r"\b(memory|bytes|size|storage|[KMGT]i?B)\b", re.IGNORECASE)
PER_PARAMETER = re.compile(r"(per|a|each)[ -]param", re.IGNORECASE)

# The ZeRO paper (arXiv 1910.02054) writes the number of parameters as Ψ.
ALIASES = {"Ψ": "P", "ψ": "P", "Φ": "P", "φ": "P"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is wanted and what a bare number means.

    Args:
        wanted: bytes, a ratio, a count of things, seconds, or any plain number.
        default: bytes of the unit that a bare number takes; None where none was stated.
        family: what is counted, "" where the question does not say.
        per_parameter: bytes of one parameter are asked.
        b_is_bytes: a lone B after a number is bytes rather than billion.
        symbols: the question's own symbols.
    """

    wanted: Wanted
    default: Fraction | None
    family: str
    per_parameter: bool
    b_is_bytes: bool
    symbols: Mapping[str, Fraction]

    @property
    def example(self) -> str:
        """An answer as the question wants it."""
        return "16 bytes" if self.per_parameter else EXAMPLES[self.wanted]

    def told(self, reason: str) -> str:
        """Return the reason of a refusal with advice that fits what is wanted."""
        if self.wanted not in {"bytes", "seconds"}:
            change = self.wanted != "count" or reason != CHANGE
            reason = IN_PLAIN.get(reason, reason) if change else reason
            reason = WITH_UNIT.sub("", reason)
        number, _, unit = self.example.partition(" ")
        asked = reason.replace("16 GB", self.example)
        return re.sub(r"\bsuch as GB$", f"such as {unit or number}", asked)

    def symbol(self, word: str) -> Fraction | None:
        """Return the value of the symbol spelled `word`, its letter case as in the question."""
        return self.symbols.get(word)

    def near_symbol(self, word: str) -> Fraction | None:
        """Return the value of the one symbol that `word` is in the other case, or by alias."""
        close = {v for name, v in self.symbols.items() if name.lower() == word.lower()}
        if not close and ALIASES.get(word) in self.symbols:
            return self.symbols[ALIASES[word]]
        return close.pop() if len(close) == 1 else None


def understand(
    default_unit: str | None, symbols: Mapping[str, int | Fraction] | None, asks: str | None
) -> Question:
    """Return what a question wants from its stated unit and its words.

    Raises:
        ValueError: the unit is none that a question can state.
    """
    asks = asks or ""
    plain = default_unit in {None, "1"}
    inbytes = not plain or (default_unit is None and _asks_size(asks))
    per_parameter = inbytes and bool(PER_PARAMETER.search(asks))
    default = Fraction(default_factor(default_unit)) if default_unit and not plain else None
    return Question(
        wanted="bytes" if inbytes else _plainly(asks),
        default=default,
        family="" if inbytes else _family(asks),
        per_parameter=per_parameter,
        b_is_bytes=inbytes and (per_parameter or (default == 1 and not asks)),
        symbols={name: Fraction(value) for name, value in (symbols or {}).items()},
    )


def _plainly(asks: str) -> Wanted:
    """Return what is wanted of a question that asks for no size."""
    if asks == "seconds":
        return "seconds"
    return "ratio" if RATIO.search(asks) else "count" if _family(asks) else "number"


def _asks_size(asks: str) -> bool:
    return bool(SIZE.search(asks)) and not RATIO.search(asks)


def _family(asks: str) -> str:
    words = re.findall(r"[a-z]+", asks.lower())
    return next((COUNTED[w].said for w in words if w in COUNTED), "")
