"""Widths that are said of terms: "gradients in bf16", "moments take 8 bytes"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from problems.interview.script import Width
from quiz.claims.stems import stem
from quiz.claims.text import Token
from quiz.interview.clauses import Clause
from quiz.interview.cues import (
    ALL,
    BEFORE_COUNTS,
    BETWEEN_NUMBERS,
    BITS,
    BYTES,
    EACH,
    NO_WIDTH_BEFORE,
    NO_WIDTH_BEHIND,
    ON_THE_WAY,
    SINGLE,
)
from quiz.interview.hearing import spans

Phrases = Sequence[str]
_Kind = Literal["own", "other", "bits", "bytes"]
# A larger number is a sum, or no width.
WIDEST = 12
# "Two moments" says how many they are.
MOST_TENSORS = 2
# Words from "not" or "all" to the width.
NEAR = 3
# "8 bytes of moments".
LEADS_ON = frozenset({"of", "for"})


@dataclass(frozen=True, kw_only=True)
class _Item:
    """A term or a width, from its first to its last token.

    Args:
        kind: a width is of an element in "bits" or of a parameter in "bytes".
        sizes: of a width, in bytes: what it may mean.
    """

    kind: _Kind
    first: int
    last: int
    sizes: frozenset[int] = frozenset()

    @property
    def is_term(self) -> bool:
        return self.kind in {"own", "other"}


def misstated(clause: Clause, own: Phrases, others: Sequence[Phrases], width: Width) -> bool:
    """Return whether a clause speaks of a term with a width that it does not have.

    Args:
        clause: of what was typed.
        own: what the term is known by.
        others: what each of the others is known by.
        width: of the term.
    """
    terms = _terms(clause, own, others)
    items = sorted((*terms, *_kept(clause)), key=_place)
    mine = [item for item in items if item.kind == "own"]
    return bool(mine) and all(
        any(not _right(one, width, clause, term) for one in _of(clause, term, items))
        for term in mine
    )


def misstated_alone(clause: Clause, width: Width) -> bool:
    """Return whether a width in a clause that names no term cannot be that of a term."""
    return any(not _right(one, width, clause, None) for one in _alone(clause))


def speaks_of_width(clause: Clause, own: Phrases, others: Sequence[Phrases]) -> bool:
    """Return whether a width is said of the term in a clause."""
    items = sorted((*_terms(clause, own, others), *_kept(clause)), key=_place)
    return any(True for term in items if term.kind == "own" for _ in _of(clause, term, items))


def is_named(clause: Clause, own: Phrases, others: Sequence[Phrases]) -> bool:
    """Return whether a clause names the term, not as a part of another: "master weights"."""
    return any(item.kind == "own" for item in _terms(clause, own, others))


def _kept(clause: Clause) -> Iterator[_Item]:
    """Yield the widths that a clause gives to what is kept, and does not deny."""
    if clause.has(ON_THE_WAY):
        return
    for item in _widths(clause.said):
        if not any(0 < item.first - at <= NEAR for at in clause.negators):
            yield item


def _alone(clause: Clause) -> Iterator[_Item]:
    """Yield the widths with a unit: a bare number may be anything where no term is near."""
    for item in _kept(clause):
        if item.kind == "bits" or clause.said[item.last].word in BYTES:
            yield item


def _place(item: _Item) -> int:
    return item.first


def names_last(clause: Clause, own: Phrases, others: Sequence[Phrases]) -> bool:
    """Return whether the term is the last one that a clause names."""
    terms = _terms(clause, own, others)
    return bool(terms) and max(terms, key=lambda item: item.last).kind == "own"


def is_shared(clause: Clause, own: Phrases, others: Sequence[Phrases]) -> bool:
    """Return whether other terms are known by the very words that a clause names a term by."""
    mine = {(first, last) for first, last in spans(clause.said, own)}
    theirs = [span for other in others for span in spans(clause.said, other)]
    return any(a <= first and last <= b for first, last in mine for a, b in theirs)


def _terms(clause: Clause, own: Phrases, others: Sequence[Phrases]) -> list[_Item]:
    """Return the terms in a clause; where two are named by the same words, the longer one."""
    named: list[tuple[_Kind, tuple[int, int]]] = [
        ("own", span) for span in spans(clause.said, own)
    ]
    named += [("other", span) for other in others for span in spans(clause.said, other)]
    found = [_term(clause.said, kind, span) for kind, span in named]
    kept: list[_Item] = []
    for item in sorted(found, key=lambda item: (item.first - item.last, item.kind == "other")):
        free = all(item.last < one.first or one.last < item.first for one in kept)
        if free and not _is_measure(clause.said, item):
            kept.append(item)
    return kept


def _term(said: Sequence[Token], kind: _Kind, span: tuple[int, int]) -> _Item:
    """Return a term without the number before it: "two moments" and "gradients 2 moments 8"."""
    first, last = span
    while first < last and said[first].stem.isdecimal():
        first += 1
    return _Item(kind=kind, first=first, last=last)


def _is_measure(said: Sequence[Token], item: _Item) -> bool:
    """Return whether "parameter" says what bytes are counted for: "8 bytes per parameter"."""
    before = said[item.first - 1].word if item.first else ""
    return said[item.last].stem.startswith("param") and before in {"per", "a", "each", "every"}


def _of(clause: Clause, term: _Item, items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield the widths that are said of a term."""
    for item in items:
        if item.is_term:
            continue
        if _said_of(clause, item, items) is term or _is_of_all(clause, item):
            yield item


def _said_of(clause: Clause, width: _Item, items: Sequence[_Item]) -> _Item | None:
    """Return the term that a width belongs to."""
    terms = [item for item in items if item.is_term]
    around = [item for item in terms if item.first <= width.first <= item.last]
    before = [item for item in terms if item.last < width.first]
    behind = [item for item in terms if item.first > width.last]
    if around or not (before and behind):
        return next(iter((*around, *before[-1:], *behind[:1])), None)
    outer = [item for item in items if not _within(item, terms)]
    if clause.said[width.last + 1].word in LEADS_ON or _stands_first(width, outer, behind[0]):
        return behind[0]
    return before[-1]


def _is_of_all(clause: Clause, width: _Item) -> bool:
    """Return whether a width is said of all terms: "all in bf16", "everything is fp32"."""
    before = clause.said[max(0, width.first - NEAR) : width.first]
    return width.kind == "bits" and any(token.word in ALL for token in before)


def _within(width: _Item, terms: Sequence[_Item]) -> bool:
    return not width.is_term and any(one.first <= width.first <= one.last for one in terms)


def _stands_first(width: _Item, items: Sequence[_Item], following: _Item) -> bool:
    """Return whether a width between two terms is said of the one behind it."""
    in_turn = all(one.is_term != other.is_term for one, other in pairwise(items))
    alike = len({item.kind for item in items if not item.is_term}) == 1
    if in_turn and alike and items[0].is_term != items[-1].is_term:
        return not items[0].is_term
    if width.kind == "bits":
        return width.last + 1 == following.first
    return items[0].kind == "bytes"


def _right(said: _Item, width: Width, clause: Clause, term: _Item | None) -> bool:
    one = {width.size // width.tensors}
    if said.kind == "bits":
        return bool(said.sizes & one)
    wanted = {width.size, *width.also}
    if width.tensors > 1 and _of_each(clause, term):
        wanted |= one
    return bool(said.sizes & wanted)


def _of_each(clause: Clause, term: _Item | None) -> bool:
    """Return whether a width may be that of one of several tensors."""
    words = [token.word for token in clause.said]
    pairs = [(word, stem(after)) for word, after in zip(words, (*words[1:], ""), strict=True)]
    if any(word in EACH and not after.startswith("param") for word, after in pairs):
        return True
    return term is not None and "and" in words[term.first : term.last + 1]


def _widths(said: Sequence[Token]) -> Iterator[_Item]:
    at = 0
    while at < len(said):
        found = _bits(said, at) or _bytes(said, at)
        if found is not None and found.sizes:
            yield found
        at = at + 1 if found is None else found.last + 1


def _bits(said: Sequence[Token], at: int) -> _Item | None:
    if said[at].word in BITS:
        return _Item(kind="bits", first=at, last=at, sizes=frozenset({BITS[said[at].word]}))
    number = _number(said, at)
    if number and _stem(said, at + 1) == "bit":
        return _Item(kind="bits", first=at, last=at + 1, sizes=frozenset({number // 8}))
    return None


def _bytes(said: Sequence[Token], at: int) -> _Item | None:
    """Return a number, or two with a sign between them; without sizes where it is no width."""
    numbers, last = _sum(said, at)
    if not numbers:
        return None
    has_unit = _word(said, last + 1) in BYTES
    behind = _word(said, last + 1 + has_unit)
    counts = has_unit and _word(said, last + 1) == "b" and stem(behind).startswith("param")
    named = not has_unit and (behind in NO_WIDTH_BEHIND or _counts_tensors(said, at, last))
    times = _word(said, last + 1) in BETWEEN_NUMBERS
    other = counts or named or times or (at > 0 and said[at - 1].word in NO_WIDTH_BEFORE)
    sizes: set[int] = set()
    if not other and len(numbers) <= MOST_TENSORS and max(numbers) <= WIDEST:
        sizes = {*numbers}
        if len(numbers) > 1:
            sizes |= {sum(numbers), numbers[0] * numbers[1]}
    return _Item(kind="bytes", first=at, last=last + has_unit, sizes=frozenset(sizes))


def _counts_tensors(said: Sequence[Token], at: int, last: int) -> bool:
    """Return whether a small number stands before a word and says how many there are.

    In "gradients 2 moments 8" it is the width of what is before it.
    """
    number = _number(said, at)
    small = at == last and number is not None and number <= MOST_TENSORS
    if not small or last + 1 >= len(said) or said[last + 1].kind != "word":
        return False
    return at == 0 or said[at - 1].word in BEFORE_COUNTS or said[at].kind == "word"


def _sum(said: Sequence[Token], at: int) -> tuple[list[int], int]:
    """Return the numbers that are added or multiplied from `at` on, and their last place."""
    number = _number(said, at)
    if number is None:
        return [], at
    numbers, last = [number], at
    while _word(said, last + 1) in BETWEEN_NUMBERS:
        following = _number(said, last + 2)
        if following is None:
            break
        numbers.append(following)
        last += 2
    return numbers, last


def _number(said: Sequence[Token], at: int) -> int | None:
    if at >= len(said):
        return None
    text = said[at].stem if said[at].word not in SINGLE else ""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < len("1000") else None


def _word(said: Sequence[Token], at: int) -> str:
    return said[at].word if at < len(said) else ""


def _stem(said: Sequence[Token], at: int) -> str:
    return said[at].stem if at < len(said) else ""
