"""The grammar of a typed order: items, brackets, and what stands between two of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import final

from problems.answers.ranking import Order
from quiz.answers.quantity import RefusalError
from quiz.answers.ranking_lexer import ITEMS, JOINS, Token
from quiz.answers.ranking_names import Names

# Of brackets in brackets: [[1, 2], [3]] has two.
DEEPEST = 4
SPACE = "blank"


@dataclass(frozen=True, kw_only=True)
class Row:
    """Units and the joins between them, one fewer. Each unit is an item or a row in brackets."""

    start: int
    units: tuple["Token | Row", ...]
    joins: tuple[Token, ...]

    @property
    def kinds(self) -> set[str]:
        """What stands between the units."""
        return {join.kind for join in self.joins}


def grouped(tokens: Sequence[Token], names: Names) -> tuple[Order, tuple[str, ...]]:
    """Return the order that the tokens say, and what was assumed.

    Raises:
        RefusalError: an item is missing or stands twice, or a sign has two meanings.
    """
    _check_once(tokens, names)
    row = _Parser(tokens).row()
    while len(row.units) == 1 and isinstance(row.units[0], Row):
        row = row.units[0]  # brackets around it all
    return _in_order(row), _remarks(row)


def _remarks(row: Row) -> tuple[str, ...]:
    beside = [join.said for join in row.joins if join.kind == "list"]
    if not beside or "order" not in row.kinds:
        return ()
    return (f"read the {beside[0]} as an order too; type = for a tie",)


def _check_once(tokens: Sequence[Token], names: Names) -> None:
    met = set()
    for token in tokens:
        if token.kind not in ITEMS:
            continue
        if token.said in met:
            name = f"{names.name(token.said)} ({token.said})"
            raise RefusalError(token.start, f"{name} stands here again; type each item once")
        met.add(token.said)


def _in_order(row: Row) -> Order:
    groups: list[tuple[str, ...]] = []
    for place, unit in enumerate(row.units):
        inner = _bracket(unit) if isinstance(unit, Row) else ((unit.said,),)
        if place == 0 or row.joins[place - 1].kind != "tie":
            groups.extend(inner)
            continue
        before = row.units[place - 1]
        if len(inner) > 1 or (isinstance(before, Row) and len(_bracket(before)) > 1):
            reason = "an order in brackets cannot tie; type > and = without brackets"
            raise RefusalError(row.joins[place - 1].start, reason)
        groups[-1] += inner[0]
    return tuple(groups)


def _bracket(row: Row) -> Order:
    """Return what brackets beside other items hold: a tie, or an order if > stands in them."""
    if len(row.units) == 1 and isinstance(row.units[0], Row):
        return _bracket(row.units[0])
    if {"order", "list"} <= row.kinds:
        reason = "these brackets hold a comma and a >; type > and = without brackets"
        raise RefusalError(row.start, reason)
    order = _in_order(row)
    return order if "order" in row.kinds else (tuple(chain.from_iterable(order)),)


@final
class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def row(self) -> Row:
        """Return the whole line."""
        row = self._row(0, 0)
        if self._at < len(self._tokens):
            raise RefusalError(self._tokens[self._at].start, "no bracket is open here")
        return row

    def _row(self, start: int, depth: int) -> Row:
        if depth > DEEPEST:
            raise RefusalError(start, "there are too many brackets here; type = for a tie")
        units: list[Token | Row] = []
        joins: list[Token] = []
        while True:
            between = self._between()
            if self._at == len(self._tokens) or self._tokens[self._at].kind == "close":
                _check_end(between, "behind")
                return Row(start=start, units=tuple(units), joins=tuple(joins))
            if units:
                joins.append(_join(between, self._tokens[self._at].start))
            else:
                _check_end(between, "before")
            units.append(self._unit(depth))

    def _between(self) -> list[Token]:
        first = self._at
        while self._at < len(self._tokens) and self._tokens[self._at].kind in JOINS:
            self._at += 1
        return [*self._tokens[first : self._at]]

    def _unit(self, depth: int) -> Token | Row:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind != "open":
            return token
        row = self._row(token.start, depth + 1)
        if self._at == len(self._tokens):
            raise RefusalError(token.start, "this bracket is not closed")
        if not row.units:
            raise RefusalError(token.start, "nothing stands in these brackets")
        self._at += 1
        return row


def _check_end(between: Sequence[Token], side: str) -> None:
    for token in between:
        if token.kind != "list":
            raise RefusalError(token.start, f"an item is missing {side} this sign")


def _join(between: Sequence[Token], start: int) -> Token:
    """Return the one join that the signs between two units come to; a tie or > beats a comma."""
    strong = [token for token in between if token.kind != "list"]
    if len({token.kind for token in strong}) > 1:
        raise RefusalError(strong[1].start, "this says both an order and a tie; type > or =")
    return (*strong, *between, Token(kind="list", start=start, said=SPACE))[0]
