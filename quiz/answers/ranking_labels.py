"""Numbers and words beside the items of a typed order that only say where in it they stand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from quiz.answers.quantity import RefusalError
from quiz.answers.ranking_lexer import ITEMS, JOINS, Token
from quiz.answers.ranking_names import Names
from quiz.answers.ranking_words import FROM_FIRST

PLACES = "read the numbers before the names as places"
APART = "this number and the name behind it are two items; type one of them"


def plainly(tokens: Sequence[Token], names: Names) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """Return the tokens without places, labels and items said twice, and what was assumed.

    Raises:
        RefusalError: places that are not in order, or a label that belongs to another item.
    """
    left = tuple(_without_ends(_without_places(tokens)))
    unlabelled, remarks = _without_labels(left, names)
    return tuple(_said_once(unlabelled)), remarks


def _without_places(tokens: Sequence[Token]) -> tuple[Token, ...]:
    places = [token for token in tokens if token.kind == "place"]
    for number, place in enumerate(places, 1):
        if int(place.said) != number:
            raise RefusalError(place.start, FROM_FIRST)
    return tuple(token for token in tokens if token.kind != "place")


def _without_ends(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens without "first" and "last", which must be true of the items beside them."""
    for index, token in enumerate(tokens):
        if token.kind not in {"first", "last"}:
            yield token
        elif not _is_true(token, tokens[:index], tokens[index + 1 :]):
            raise RefusalError(token.start, FROM_FIRST)
        elif token.kind == "last" and _items(tokens[:index]) and _items(tokens[index + 1 :]):
            yield replace(token, kind="order")


def _is_true(token: Token, before: Sequence[Token], after: Sequence[Token]) -> bool:
    follows = bool(before) and before[-1].kind in ITEMS | {"close"}
    belongs_to_it = follows and (not after or after[0].kind in JOINS)
    if token.kind == "first":
        return _is_level(before) if belongs_to_it else not _items(before)
    return not _items(after) if belongs_to_it else _is_level(after)


def _items(tokens: Sequence[Token]) -> int:
    return sum(token.kind in ITEMS for token in tokens)


def _is_level(tokens: Sequence[Token]) -> bool:
    return _items(tokens) <= 1 + sum(token.kind == "tie" for token in tokens)


def _without_labels(
    tokens: Sequence[Token], names: Names
) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    labels = [
        (token, behind)
        for token, behind in pairwise((*tokens, None))
        if token is not None and token.kind == "label"
    ]
    if not all(_may_label(label, behind, names) for label, behind in labels):
        return tuple(_key(token, names) for token in tokens), ()
    left = tuple(token for token in tokens if token.kind != "label")
    if all(behind is not None and behind.said == label.said for label, behind in labels):
        return left, ()
    count = [str(number) for number in range(1, _items(left) + 1)]
    if [label.said for label, _ in labels] != count:
        raise RefusalError(labels[0][0].start, APART)
    return left, (PLACES,)


def _may_label(label: Token, behind: Token | None, names: Names) -> bool:
    if behind is None:
        return False
    return behind.kind == "name" or (behind.kind == "key" and label.said not in names.keys)


def _key(token: Token, names: Names) -> Token:
    if token.kind != "label":
        return token
    if token.said not in names.keys:
        raise RefusalError(token.start, names.advice(token.said))
    return replace(token, kind="key")


def _said_once(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens without a second name behind an item: 2 ckpt, 2 - ckpt, zero3 (fsdp)."""
    last: Token | None = None
    index = 0
    while index < len(tokens):
        token = tokens[index]
        again, size = _aside(tokens[index : index + 3])
        if last and _is_again(again, last):
            index += size
            continue
        last = token
        yield token
        index += 1


def _aside(behind: Sequence[Token]) -> tuple[Token, int]:
    """Return the item that may be said again, and how many tokens that takes."""
    kinds = [token.kind in ITEMS or token.kind for token in behind]
    if kinds == ["open", True, "close"]:
        return behind[1], len(behind)
    if kinds[:2] == ["list", True] and behind[0].said == "hyphen":
        return behind[1], 2
    return behind[0], 1


def _is_again(token: Token, last: Token) -> bool:
    same = token.kind in ITEMS and token.said == last.said
    return same and {token.kind, last.kind} != {"key"}
