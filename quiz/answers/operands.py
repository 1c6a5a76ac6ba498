"""Operands: a number with what stands behind it.

power   := primary ["^" exponent] (unit | scale | noun | "%" | "per" noun | "/" noun)*
primary := number | symbol | number words | "a" number | "(" range ")"
"""

from abc import ABC, abstractmethod
from fractions import Fraction

from quiz.answers.cardinals import cardinal
from quiz.answers.cursor import Cursor
from quiz.answers.quantity import RefusalError
from quiz.answers.tokens import Token
from quiz.answers.tree import (
    Counted,
    Leaf,
    Marked,
    Measured,
    Node,
    Power,
    Scaled,
)
from quiz.answers.units_typed import choice

LOWER = "read as the number itself, though a lower bound was typed"

STARTS = {"number", "cardinal", "fraction", "symbol", "multiple", "article", "none", "same"}


class Operands(Cursor, ABC):
    """The lower half of the grammar; what may stand in brackets is left to the upper half."""

    @abstractmethod
    def _range(self) -> Node: ...

    def _power(self) -> Node:
        node = self._primary()
        if self._sees("^") or self._sees("^2", "^3"):
            node = self._raised(node)
        while True:
            further = self._postfix(node)
            if further is None:
                return node
            node = further

    def _raised(self, base: Node) -> Node:
        start = self._start
        sign = self._takes("^", "^2", "^3")
        if sign and sign.said != "^":
            two = choice(int(sign.said[1]))
            return Power(start=start, base=base, exponent=Leaf(start=start, options=(two,)))
        self._deeper()
        minus = self._takes("-")
        self._takes("+")
        exponent = self._primary()
        if self._sees("^"):
            exponent = self._raised(exponent)
        self._depth -= 1
        if isinstance(exponent, Leaf) and exponent.options[0].factor == 1 and self._sees("/"):
            raise RefusalError(start, "this power is not clear; set brackets around the exponent")
        return Power(start=start, base=base, exponent=exponent, inverse=minus is not None)

    def _postfix(self, node: Node) -> Node | None:
        start, token, behind = self._start, self._token, self._ahead()
        if token is None:
            return None
        if self._plus_before_unit(behind):
            self._advance()
            return node
        if token.kind == "unit":
            self._advance()
            return Measured(start=start, number=node, unit=self._unit(token))
        if token.kind == "scale":
            self._advance()
            leaf = Leaf(start=start, options=token.options)
            return Measured(start=start, number=node, unit=leaf)
        if self._sees("(") and behind and behind.kind == "unit" and self._lone_unit():
            self._advance(3)
            return Measured(start=start, number=node, unit=self._unit(behind))
        return self._counted(node, token, behind)

    def _unit(self, token: Token) -> Leaf:
        return Leaf(start=token.start, options=token.options, key=token.key)

    def _lone_unit(self) -> bool:
        closing = self._ahead(2)
        return closing is not None and closing.said == ")"

    def _plus_before_unit(self, behind: Token | None) -> bool:
        if self._sees("+") and behind is not None and behind.kind in {"unit", "per"}:
            self._remarks.append(LOWER)
            return True
        return False

    def _counted(self, node: Node, token: Token, behind: Token | None) -> Node | None:
        start = token.start
        if token.kind == "noun":
            self._advance()
            return Counted(start=start, number=node, family=token.said, power=1)
        before = self._tokens[self._at - 1].kind
        each = token.kind == "per" or (token.kind == "article" and before == "unit")
        if each or (self._sees("/") and behind and behind.kind == "noun"):
            self._advance()
            if not self._is("noun"):
                raise RefusalError(self._start, "this is no known thing to count by; type per GPU")
            family = self._tokens[self._at].said
            self._advance()
            return Counted(start=start, number=node, family=family, power=-1)
        if token.kind == "and-fraction":
            self._advance()
            return Scaled(start=start, number=node, plus=token.options[0].factor)
        if self._sees("%"):
            self._advance()
            return Marked(start=start, number=node, mark="percent")
        if token.kind == "fold" or (token.kind == "comparator" and _is_multiple(node)):
            if token.said and isinstance(node, Marked) and node.mark == "share":
                raise RefusalError(
                    start, "which way is not clear; type a fraction such as 1/4, or 1.5x"
                )
            self._advance()
            return Marked(start=start, number=node, mark="multiple")
        return None

    def _primary(self) -> Node:
        start, token = self._start, self._token
        if token is None:
            raise RefusalError(start, "a number is missing here; type the whole answer")
        if self._takes("("):
            return self._bracketed()
        if token.kind == "article":
            self._advance()
            return self._after_article(start)
        if token.kind == "cardinal":
            number, self._at = cardinal(self._tokens, self._at)
            return self._with_fraction(_leaf(start, number))
        if token.kind not in STARTS:
            raise RefusalError(start, "a number is expected here; type one such as 16")
        self._advance()
        return self._atom(token)

    def _atom(self, token: Token) -> Node:
        start = token.start
        if token.kind == "none":
            return _leaf(start, Fraction(0))
        if token.kind == "same":
            return Marked(start=start, number=_leaf(start, Fraction(1)), mark="same")
        leaf = Leaf(start=start, options=token.options, key=token.key)
        if token.kind == "multiple":
            return self._multiple(leaf)
        if token.kind == "fraction" and token.said != "vulgar":
            return Marked(start=start, number=leaf, mark="share")
        return self._mixed(leaf) if token.kind == "number" else leaf

    def _multiple(self, leaf: Leaf) -> Node:
        """Return "double", or "factor of" with its number."""
        if leaf.options[0].factor == 0:
            return Marked(start=leaf.start, number=self._primary(), mark="multiple")
        return Marked(start=leaf.start, number=leaf, mark="multiple")

    def _bracketed(self) -> Node:
        self._deeper()
        inner = self._range()
        if not self._takes(")"):
            raise RefusalError(self._start, self._why_open())
        self._depth -= 1
        return inner

    def _why_open(self) -> str:
        """Say why a bracket does not end here: it is open to the end, or holds too much."""
        depth = 0
        for token in self._tokens[self._at :]:
            depth += {"(": 1, ")": -1}.get(token.said if token.kind == "op" else "", 0)
            if depth < 0:
                return "this does not belong in a bracket; type one number in it, or leave it out"
        return "a bracket is not closed here; type the missing one"

    def _after_article(self, start: int) -> Node:
        if self._is("unit"):
            return _leaf(start, Fraction(1))
        if self._token and self._token.kind == "scale":
            number = self._token.options[0].factor
            self._advance()
            return _leaf(start, number)
        if self._is("number", "cardinal", "fraction", "multiple"):
            return self._primary()
        raise RefusalError(self._start, "a number is expected here; type one such as 16")

    def _with_fraction(self, leaf: Leaf) -> Node:
        """Return a number with the word or sign of a fraction behind it: 1½, two thirds."""
        token = self._token
        return self._fraction(leaf, token) if token and token.kind == "fraction" else leaf

    def _mixed(self, leaf: Leaf) -> Node:
        """Return a numeral with the fraction behind it, which may be in digits too: 1 1/2."""
        if self._is("fraction"):
            return self._with_fraction(leaf)
        numerator, slash, denominator = self._token, self._ahead(), self._ahead(2)
        if not (numerator and slash and denominator) or slash.said != "/":
            return leaf
        after = self._ahead(3)
        if numerator.kind != "number" or denominator.kind != "number":
            return leaf
        part = numerator.options[0].factor / max(denominator.options[0].factor, Fraction(1))
        whole = all(len(t.options) == 1 and t.options[0].factor.denominator == 1
                    for t in (leaf, numerator, denominator))  # fmt: skip
        if not whole or not 0 < part < 1 or (after and after.said == "^"):
            return leaf
        self._advance(3)
        return Scaled(start=leaf.start, number=leaf, plus=part)

    def _fraction(self, leaf: Leaf, token: Token) -> Node:
        part, count = token.options[0].factor, leaf.options[0].factor
        if len(leaf.options) > 1 or count.denominator != 1:
            raise RefusalError(token.start, "this fraction is not clear; type it as 1.5 or 3/4")
        self._advance()
        if token.said == "vulgar":
            return Scaled(start=leaf.start, number=leaf, plus=part)
        if count * part > 1:
            raise RefusalError(token.start, "this fraction is not clear; type it as 1.5 or 3/4")
        return Marked(start=leaf.start, number=_leaf(leaf.start, count * part), mark="share")


def _is_multiple(node: Node) -> bool:
    return isinstance(node, Marked) and node.mark in {"multiple", "share"}


def _leaf(start: int, number: Fraction) -> Leaf:
    return Leaf(start=start, options=(choice(number),))
