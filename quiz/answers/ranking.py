"""Reads a typed order of some items: groups of ties, from first to last."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from problems.answers.ranking import Order, RankedItem
from quiz.answers.quantity import RefusalError, Unreadable
from quiz.answers.ranking_groups import grouped
from quiz.answers.ranking_labels import plainly
from quiz.answers.ranking_lexer import RankingLexer
from quiz.answers.ranking_names import Names
from quiz.answers.ranking_text import plain_line


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """An order as it was understood.

    Args:
        order: keys in groups that tie, each key once; some items may be missing.
        remarks: what was assumed in reading it.
    """

    order: Order
    remarks: tuple[str, ...] = ()


def read_ranking(text: str, items: Sequence[RankedItem]) -> Ranking | Unreadable:
    """Read an order such as "fa, ckpt > zero3 = offload", "3 = 1 > 2" or "1324".

    Names, other names and keys may be mixed. `>`, arrows and "then" put one before the other; so
    does whatever else stands between two items, such as a comma, also beside `>`. `=`, `~` and
    "same as" make a tie, and so do brackets around items without `>`.

    Args:
        text: the answer as typed; any text at all is safe.
        items: what is ranked.

    Returns:
        The order of the items that were typed, two or more, or the place and reason of a refusal.
    """
    try:
        ranking = order_of(text, items)
    except RefusalError as refusal:
        return refusal.unreadable
    if len(tuple(chain.from_iterable(ranking.order))) < 2:
        how = Names(items).how
        reason = f"type all of them in one line, the first one first: {how}, or names"
        return Unreadable(offset=0, reason=reason)
    return ranking


def order_of(text: str, items: Sequence[RankedItem]) -> Ranking:
    """Return the order of as many items as were typed, be it one or none.

    Raises:
        RefusalError: with an index into the text as typed.
    """
    typed = plain_line(text)
    names = Names(items)
    try:
        tokens, places = plainly(tuple(RankingLexer(typed.plain, names).tokens()), names)
        order, commas = grouped(tokens, names)
    except RefusalError as refusal:
        found = refusal.unreadable
        raise RefusalError(typed.where[found.offset], found.reason) from None
    return Ranking(order=order, remarks=(*places, *commas))
