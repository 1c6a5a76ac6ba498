"""The tree of an answer: what was typed, before any reading of it is chosen."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from quiz.answers.units_typed import Option

Sign = Literal["+", "-", "—", "*", "/", "juxtaposed"]


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A numeral, symbol or unit. Leaves with one key are read alike."""

    start: int
    options: tuple[Option, ...]
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A number with its unit behind it."""

    start: int
    number: "Node"
    unit: Leaf


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A number of things, or a number for each of them (`power` -1)."""

    start: int
    number: "Node"
    family: str
    power: int


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A number that is a percentage or says how many times."""

    start: int
    number: "Node"
    mark: Literal["percent", "share", "multiple", "same"]


@dataclass(frozen=True, kw_only=True)
class Term:
    """A further operand of a sum or product, with the operator before it."""

    start: int
    op: Sign
    node: "Node"


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Operands of one precedence, left to right."""

    start: int
    first: "Node"
    rest: tuple[Term, ...]


@dataclass(frozen=True, kw_only=True)
class Power:
    """A number raised to a whole exponent; `inverse` where a minus stood before it."""

    start: int
    base: "Node"
    exponent: "Node"
    inverse: bool = False


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """A number raised by a fraction of one: 1½, 1 1/2, two and a half."""

    start: int
    number: "Node"
    plus: Fraction


@dataclass(frozen=True, kw_only=True)
class Range:
    """Two ends, or a middle and a spread."""

    start: int
    kind: Literal["ends", "spread"]
    left: "Node"
    right: "Node"


@dataclass(frozen=True, kw_only=True)
class Sum:
    """A chain of + and -; two operands with a dash may be a range."""

    start: int
    first: "Node"
    rest: tuple[Term, ...]


Node = Leaf | Measured | Counted | Marked | Chain | Power | Scaled | Range | Sum


@dataclass(frozen=True)
class Answer:
    """What was typed to stand for one number, more than once where it is restated."""

    members: tuple[Node, ...]
    approximate: bool
    remarks: tuple[str, ...]
