"""The pieces that a typed answer falls into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from quiz.answers.units_typed import Option

Kind = Literal[
    "number", "cardinal", "fraction", "unit", "scale", "symbol", "multiple", "noun", "per",
    "fold", "comparator", "article", "and-fraction", "same", "none", "op",
]  # fmt: skip

OPERATORS = {
    "+/-": "±", "+-": "±", "**": "^", "..": "..", "...": "..", "==": "=", "~=": "≈", "=~": "≈",
    "<=": "≤", "=<": "≤", ">=": "≥", "->": "=", "=>": "=", "✕": "*", ":": "/", "÷": "/",
    "[": "(", "]": ")", "·": "*",
    **{c: c for c in "+-—*/^()=%±~≈<>≤≥"},
}  # fmt: skip
OPERATOR = re.compile("|".join(re.escape(o) for o in sorted(OPERATORS, key=len, reverse=True)))

KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}


@dataclass(frozen=True, kw_only=True)
class Token:
    """One piece of the text.

    Args:
        kind: what it is.
        start: index into the normalised text.
        tight: no space stands before it.
        said: the operator, or the family of a noun.
        options: its readings, likeliest first.
        key: readings of tokens with one key are chosen together.
    """

    kind: Kind
    start: int
    tight: bool
    said: str = ""
    options: tuple[Option, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class Tokens:
    """The tokens, and what the skipped words said."""

    tokens: tuple[Token, ...]
    approximate: bool
    remarks: tuple[str, ...]
