"""A precedence parser from tokens to the tree of an answer.

answer  := range ("=" range)* ["(" range ")"] ["+"]
range   := "between" sum "and" sum | "from" sum ".." sum | sum [(".." | "±") sum]
sum     := product (("+" | "-") product)*
product := power (("*" | "/" | nothing) power)*
"""

from collections.abc import Mapping
from typing import get_args

from quiz.answers.operands import LOWER, Operands
from quiz.answers.quantity import RefusalError
from quiz.answers.tree import (
    Answer,
    Chain,
    Marked,
    Node,
    Range,
    Sign,
    Sum,
    Term,
)
from quiz.answers.words import CHANGE

RESTATED = 5

SIGNS: Mapping[str, Sign] = {sign: sign for sign in get_args(Sign)}


class Parser(Operands):
    """Reads an answer; `answer` is its only result."""

    def answer(self) -> Answer:
        """Return the whole answer.

        Raises:
            RefusalError: with an index into the normalised text: something does not fit.
        """
        if not self._tokens:
            raise RefusalError(0, "there is no number here; type one with its unit, such as 16 GB")
        self._leading_per()
        members = [self._range()]
        while self._takes("="):
            if len(members) == RESTATED:
                raise RefusalError(self._start, "this is too long a chain; type its result")
            members.append(self._range())
        if self._sees("("):
            members.append(self._primary())
        if self._at < len(self._tokens):
            raise RefusalError(self._start, "this cannot be read after a number; type one number")
        return Answer(tuple(members), self._approximate, tuple(self._remarks))

    def _leading_per(self) -> None:
        """Take "per GPU:" before the number."""
        behind = self._ahead()
        if self._is("per") and behind is not None and behind.kind == "noun":
            self._advance(2)
            self._takes("/")
            self._remarks.append(f"read as the size per {behind.said}")

    def _range(self) -> Node:
        start = self._start
        if self._takes("between"):
            left = self._sum()
            if isinstance(left, Sum) and len(left.rest) == 1 and left.rest[0].op != "+":
                return Range(start=start, kind="ends", left=left.first, right=left.rest[0].node)
            if not self._takes("and", ".."):
                raise RefusalError(self._start, "a range needs two ends; type 12 to 14 GB")
            return Range(start=start, kind="ends", left=left, right=self._sum())
        left = self._sum()
        if self._takes("..", "~"):
            return Range(start=start, kind="ends", left=left, right=self._sum())
        if self._takes("±"):
            if self._token is None:
                self._approximate = True
                return left
            return Range(start=start, kind="spread", left=left, right=self._sum())
        return left

    def _sum(self) -> Node:
        start = self._start
        sign = self._takes("+", "-", "—")
        if sign and sign.said != "+" and not self._percent_here():
            raise RefusalError(sign.start, "an answer is not negative; type a number of 0 or more")
        first = self._product()
        if sign and isinstance(first, Marked) and first.mark == "percent":
            raise RefusalError(sign.start, CHANGE)
        rest = []
        while self._sees("+", "-", "—"):
            if self._bound():
                break
            op = self._tokens[self._at]
            self._advance()
            rest.append(Term(start=op.start, op=SIGNS[op.said], node=self._product()))
        return Sum(start=start, first=first, rest=tuple(rest)) if rest else first

    def _percent_here(self) -> bool:
        """Say whether a number in percent stands here, as behind the sign of "-75%"."""
        behind = self._ahead()
        return self._is("number") and behind is not None and behind.said == "%"

    def _bound(self) -> bool:
        """Take a plus at the very end for "or more"."""
        if self._sees("+") and self._ahead() is None:
            self._advance()
            self._remarks.append(LOWER)
            return True
        return False

    def _product(self) -> Node:
        start = self._start
        before = self._tokens[self._at - 1].said if self._at else ".."
        marked = self._takes("*") if before == ".." else None
        first = self._power()
        rest: list[Term] = []
        while self._continues():
            term = self._term(rest)
            if term is None:
                if any(t.op == "*" for t in rest):
                    raise RefusalError(start, "this may be a product or a multiple; work it out")
                return Marked(start=start, number=_chain(start, first, rest), mark="multiple")
            rest.append(term)
        node = _chain(start, first, rest)
        if self._is("comparator") and self._token and not self._token.said:
            self._advance()
            share = isinstance(node, Marked) and node.mark == "percent"
            return node if share else Marked(start=start, number=node, mark="multiple")
        return Marked(start=start, number=node, mark="multiple") if marked else node

    def _continues(self) -> bool:
        if self._sees("*", "/"):
            return True
        token, before = self._token, self._tokens[self._at - 1]
        if token is None:
            return False
        if self._sees("("):
            return token.tight and before.kind not in {"unit", "noun"}
        if token.kind == "symbol":
            return before.kind in {"number", "symbol", "cardinal", "fraction", "scale"} or (
                before.said == ")" or before.kind == "multiple"
            )
        worded = before.kind in {"fraction", "multiple"} and before.said != "vulgar"
        return worded and token.kind in {"number", "cardinal", "article"}

    def _term(self, rest: list[Term]) -> Term | None:
        """Return the next operand of a product; None where a sign at its end says "times"."""
        start = self._start
        sign = self._takes("*", "/")
        if sign and sign.said == "*" and self._closes():
            return None
        if sign is None and rest and rest[-1].op == "/":
            raise RefusalError(start, "what is divided by is not clear; set brackets around it")
        op = SIGNS[sign.said] if sign else "juxtaposed"
        return Term(start=start, op=op, node=self._power())

    def _closes(self) -> bool:
        if self._is("comparator"):
            self._advance()
        if self._sees("+") and self._ahead() is None:
            return True
        third = self._ahead(2)
        repeated = third is not None and third.said == "*" and self._ahead(3) is None
        return (
            self._token is None
            or self._sees(")", "..", "=", "and", "±")
            or (repeated and self._sees("-", "—"))
        )


def _chain(start: int, first: Node, rest: list[Term]) -> Node:
    return Chain(start=start, first=first, rest=tuple(rest)) if rest else first
