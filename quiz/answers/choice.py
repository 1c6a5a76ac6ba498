"""Reads the one of some items that is typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from problems.answers.ranking import RankedItem
from quiz.answers.quantity import RefusalError, Unreadable
from quiz.answers.ranking import order_of
from quiz.answers.ranking_text import LONGEST_ORDER

# What a pick may be typed with: "d, 138 GB", "saved activations (138 GB)".
SIZE = re.compile(
    r"[\s,:;=(\u2013\u2014-]+[~\u2248]?\d[\d.,]*\s*(?:[kmgt]i?b|bytes?)\)?[\s.!]*$", re.IGNORECASE
)
NOT_MARKED = "the size beside it was not marked"


@dataclass(frozen=True, kw_only=True)
class Picked:
    """The key of the item that was typed, and what was assumed in reading it."""

    key: str
    remarks: tuple[str, ...] = ()


def read_choice(text: str, items: Sequence[RankedItem]) -> Picked | Unreadable:
    """Read a key, a name or a short name such as "b", "ZeRO-2" or "z2", one alone.

    A size behind it, as in "b, 61 GB", is passed over.

    Args:
        text: the answer as typed; any text at all is safe.
        items: what may be picked.

    Returns:
        The item, or the place and reason of a refusal.
    """
    found = _one(text, items)
    beside = SIZE.search(text[:LONGEST_ORDER]) if isinstance(found, Unreadable) else None
    if beside is None:
        return found
    picked = _one(text[: beside.start()], items)
    if isinstance(picked, Unreadable):
        return found
    return replace(picked, remarks=(*picked.remarks, NOT_MARKED))


def _one(text: str, items: Sequence[RankedItem]) -> Picked | Unreadable:
    try:
        ranking = order_of(text, items)
    except RefusalError as refusal:
        return refusal.unreadable
    keys = tuple(chain.from_iterable(ranking.order))
    if len(keys) == 1:
        return Picked(key=keys[0], remarks=ranking.remarks)
    kind = "number" if items[0].key.isdigit() else "letter"
    reason = "type one of them only" if keys else f"type one of them, by its {kind} or name"
    return Unreadable(offset=0, reason=reason)
