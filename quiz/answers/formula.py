"""Reads a typed formula as a tree that gives a number for values of its letters.

Products may be implicit, as in 34sbh and 2P(1 + 7/N). What could be read in two ways, such as
P/2N, is refused with what to type instead.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from problems.answers.symbolic import Letter
from quiz.answers.formula_tokens import FormulaLexer, Token
from quiz.answers.normal import LONGEST, Text, normalise
from quiz.answers.quantity import RefusalError, Unreadable

DEEPEST = 20
HIGHEST_POWER = 60
# Bits of the largest number that a formula may reach at the points where it is tried.
LARGEST = 5000

UNIT = re.compile(
    r"(?<=[\w)\]²³])\s*(?<![A-Za-z])"
    r"(?:bytes?|parameters|params)?\s*"
    r"(?:(?:per|/|a|on each|on every|each|every)\s*(?:gpu|rank|device|card|layer|token))?"
    r"\s*\.?\s*$",
    re.IGNORECASE,
)
# A "GB" behind a formula would change it; a "B" may be a byte or a letter.
SCALED = re.compile(r"(?<![A-Za-z])[kKMGT]i?B\s*$")
LONE_B = re.compile(r"(?<=[\w)\]]) +B\s*$")
NAMED = re.compile(r"\s*(?:[A-Za-z_]+\s+){0,3}[A-Za-z_]*\s*$")
MISSING = "a number, a letter or a parenthesis is missing here"
AMBIGUOUS = "what is divided by has two readings; put it in parentheses, such as P/(2N)"
POWER_OR_FACTOR = "a number behind a letter has two readings; type ^2 or *2"


@dataclass(frozen=True)
class Node:
    """A number, a letter, or an operation on one or two nodes: "+", "-", "*", "/", "^"."""

    said: str
    start: int
    value: Fraction = Fraction(0)
    parts: tuple["Node", ...] = ()


@dataclass(frozen=True, kw_only=True)
class TypedFormula:
    """A formula as it was understood.

    Args:
        tree: its operations.
        said: how it is echoed.
        remarks: short sentences on how it was read.
        numbers: the numbers in it, powers left out, with their places in the text as typed.
    """

    tree: Node
    said: str
    remarks: tuple[str, ...] = ()
    numbers: tuple[tuple[Fraction, int], ...] = ()

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """Return the number that it gives.

        Raises:
            ZeroDivisionError: it divides by nothing.
            OverflowError: the number is absurdly large.
        """
        return _number(self.tree, values)


def read_formula(text: str, letters: Sequence[Letter]) -> TypedFormula | Unreadable:
    """Read `text` as a formula in `letters`, or say where and why it is none."""
    if not text.strip():
        example = " and ".join(one.name for one in letters[:2])
        return Unreadable(offset=0, reason=f"nothing was typed; type a formula in {example}")
    try:
        typed = normalise(text)
    except RefusalError as error:
        return error.unreadable
    try:
        return _read(_formula_alone(typed, {one.name for one in letters}), letters)
    except RefusalError as error:
        found = error.unreadable
        return replace(found, offset=typed.where[min(found.offset, len(typed.plain))])


def _formula_alone(text: Text, names: Collection[str]) -> Text:
    """Return the text with blanks for "memory =" in front and "bytes per GPU" behind."""
    plain = text.plain
    before, equals, after = plain.rpartition("=")
    if equals:
        if not NAMED.fullmatch(before):
            raise RefusalError(len(before), "type one formula, without an equals sign")
        plain = " " * (len(before) + 1) + after
    plain = re.sub(r"^(\s*)([≈~])", r"\1 ", plain)
    unit = UNIT.search(plain)
    if scaled := SCALED.search(plain):
        raise RefusalError(scaled.start(), "the formula is in plain bytes; leave the unit out")
    if "B" not in names and (byte := LONE_B.search(plain)):
        if "b" in names:
            raise RefusalError(byte.end() - 1, "this is a byte or a letter; leave the unit out")
        unit = byte
    if unit:
        plain = plain[: unit.start()] + " " * (len(plain) - unit.start())
    return Text(plain, text.where)


def _read(text: Text, letters: Sequence[Letter]) -> TypedFormula:
    lexer = FormulaLexer(text, letters)
    tokens = lexer.tokens()
    tree = _Grammar(tokens, len(text.plain.rstrip())).whole()
    return TypedFormula(
        tree=tree,
        said=_echo(tree),
        remarks=tuple(dict.fromkeys(lexer.remarks)),
        numbers=tuple((leaf.value, text.where[leaf.start]) for leaf in _numbers(tree)),
    )


def _numbers(node: Node) -> Iterator[Node]:
    """Yield the leaves that are numbers, from left to right."""
    if not node.parts and node.value > 0:
        yield node
    for part in node.parts:
        yield from _numbers(part)


class _Grammar:
    """Reads the tokens from left to right."""

    def __init__(self, tokens: Sequence[Token], end: int) -> None:
        self._tokens = tokens
        self._end = min(end, LONGEST)
        self._next = 0
        self._depth = 0

    def whole(self) -> Node:
        tree = self._sum()
        if token := self._token:
            raise RefusalError(token.start, "no parenthesis is open here")
        return tree

    @property
    def _token(self) -> Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    @property
    def _sign(self) -> str:
        token = self._token
        return token.said if token and token.kind == "sign" else ""

    def _take(self) -> Token:
        token = self._token
        if token is None:
            raise RefusalError(self._end, MISSING)
        self._next += 1
        return token

    def _sum(self) -> Node:
        sign = self._take() if self._sign in {"+", "-"} else None
        node = self._product()
        if sign and sign.said == "-":
            node = Node("*", sign.start, parts=(Node("-1", sign.start, Fraction(-1)), node))
        while self._sign in {"+", "-"}:
            operator = self._take()
            node = Node(operator.said, operator.start, parts=(node, self._product()))
        return node

    def _product(self) -> Node:
        node, divided = self._power(), False
        while (token := self._token) and (self._sign in {"*", "/", "("} or not self._sign):
            if self._sign in {"*", "/"}:
                operator = self._take()
                divided = operator.said == "/"
                node = Node(operator.said, operator.start, parts=(node, self._power()))
                continue
            if divided:
                raise RefusalError(token.start, AMBIGUOUS)
            if token.kind == "number":
                raise RefusalError(token.start, POWER_OR_FACTOR)
            node = Node("*", token.start, parts=(node, self._power()))
        return node

    def _power(self) -> Node:
        node = self._atom()
        if self._sign != "^":
            return node
        start = self._take().start
        node = Node("^", start, self._exponent(), (node,))
        if self._sign == "^":
            raise RefusalError(self._take().start, "a power of a power; put parentheses")
        return node

    def _exponent(self) -> Fraction:
        opened = self._take() if self._sign == "(" else None
        sign = self._take().said if self._sign in {"+", "-"} else "+"
        token = self._take()
        whole = token.kind == "number" and token.value.denominator == 1
        if not whole or token.value > HIGHEST_POWER:
            raise RefusalError(token.start, "a power here is a small whole number, such as 2")
        if opened:
            self._close(opened)
        return -token.value if sign == "-" else token.value

    def _atom(self) -> Node:
        token = self._take()
        if token.kind != "sign":
            return Node(token.said, token.start, token.value)
        if token.said != "(":
            raise RefusalError(token.start, MISSING)
        self._depth += 1
        if self._depth > DEEPEST:
            raise RefusalError(token.start, "these are too many parentheses")
        node = self._sum()
        self._close(token)
        self._depth -= 1
        return node

    def _close(self, opened: Token) -> None:
        if self._sign != ")":
            raise RefusalError(opened.start, "this parenthesis is not closed")
        self._take()


def _number(node: Node, values: Mapping[str, int | Fraction]) -> Fraction:
    if not node.parts:
        return Fraction(values[node.said]) if node.said in values else node.value
    first, *others = (_number(part, values) for part in node.parts)
    if node.said == "^":
        return _bounded(first, int(abs(node.value))) ** int(node.value)
    second = others[0]
    if node.said == "+":
        return _bounded(first + second)
    if node.said == "-":
        return _bounded(first - second)
    return _bounded(first * second if node.said == "*" else first / second)


def _bounded(number: Fraction, times: int = 1) -> Fraction:
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits * times > LARGEST:
        raise OverflowError
    return number


def _echo(node: Node, within: str = "") -> str:
    """Return the formula with every product written: 34·s·b·h."""
    if not node.parts:
        return node.said
    if node.said == "^":
        text = f"{_echo(node.parts[0], '^')}^{node.value}"
        return f"({text})" if within == "^" else text
    left, right = node.parts
    if node.said in {"+", "-"}:
        text = f"{_echo(left)} {node.said} {_echo(right, node.said)}"
        return f"({text})" if within and within != "+" else text
    if left.said == "-1":
        text = f"-{_echo(right, '*')}"
        return f"({text})" if within else text
    sign = "·" if node.said == "*" else "/"
    text = f"{_echo(left, '*')}{sign}{_echo(right, '/' if sign == '/' else '*')}"
    return f"({text})" if within in {"/", "^"} else text
