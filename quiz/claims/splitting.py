"""Where the clauses of an answer begin and end."""

from collections.abc import Iterator, Sequence

from quiz.claims.lexicon import Lexicon, Mention
from quiz.claims.speech import speech
from quiz.claims.text import Token

RELATIONS = frozenset({"=", "<", ">", "->", "=>", "==", "~"})
# Words in a member of a list: "optimizer states", "the 16-bit gradients".
LONGEST_MEMBER = 4


def ranges(
    typed: Sequence[Token], words: Lexicon, mentions: Sequence[Mention]
) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last token of each clause, and the number of its sentence."""
    whole = {at for m in mentions if m.sort == "things" for at in range(m.first + 1, m.last + 1)}
    for sentence, (first, last) in enumerate(_sentences(typed)):
        parts = _parts(typed, first, last, words, whole)
        yield from ((*part, sentence) for part in _merged(typed, parts, words))


def says_something(part: Sequence[Token], words: Lexicon) -> bool:
    """Return whether these tokens hold a verb or a relation."""
    return any(
        token.stem in words.verbs
        or token.word in {"not", "still"}
        or (token.kind == "sign" and token.word in RELATIONS)
        for token in part
    )


def _sentences(typed: Sequence[Token]) -> Iterator[tuple[int, int]]:
    start = 0
    for index, token in enumerate(typed):
        if token.kind == "strong":
            if start < index:
                yield start, index - 1
            start = index + 1
    if start < len(typed):
        yield start, len(typed) - 1


def _parts(
    typed: Sequence[Token], first: int, last: int, words: Lexicon, whole: set[int]
) -> list[tuple[int, int]]:
    """Return the parts of a sentence; nothing in the name of a thing parts it."""
    parts = []
    start = first
    for index in range(first, last + 1):
        breaks = _only_parts(typed, index)
        if index in whole or not (breaks or _joins(typed, index, words)):
            continue
        if start < index:
            parts.append((start, index - 1))
        start = index + 1 if breaks else index
    return [*parts, (start, last)] if start <= last else parts


def _only_parts(typed: Sequence[Token], index: int) -> bool:
    """Return whether this is a break, or a mark around a quotation."""
    token = typed[index]
    beside = (*typed[max(0, index - 1) : index], *typed[index + 1 : index + 2])
    return token.kind == "weak" or (token.kind == "quote" and any(t.quoted for t in beside))


def _joins(typed: Sequence[Token], index: int, words: Lexicon) -> bool:
    """Return whether a new clause begins at this word."""
    word, known = typed[index].word, speech()
    if typed[index].kind != "word":
        return False
    if word in {"and", "or"}:
        return _both_say(typed, index, words)
    behind = typed[index + 1] if index + 1 < len(typed) else None
    ends = behind is None or behind.kind in {"strong", "weak"}
    following = "" if behind is None or ends else behind.word
    if word == "as":
        compares = index > 0 and typed[index - 1].word in known.words["compared"]
        return following in known.words["as_reason"] and not compares
    if (ends and word in known.words["not_last"]) or (
        word == "so" and following in {"much", "many", "far"}
    ):
        return False
    return word in known.words["joints"]


def _both_say(typed: Sequence[Token], index: int, words: Lexicon) -> bool:
    """Return whether a verb stands between this "and" and the breaks on both its sides."""
    before = index
    while before and not _breaks(typed[before - 1]):
        before -= 1
    after = index + 1
    while after < len(typed) and not _breaks(typed[after]):
        after += 1
    sides = typed[before:index], typed[index + 1 : after]
    return all(says_something(side, words) for side in sides)


def _breaks(token: Token) -> bool:
    return token.kind in {"strong", "weak"} or token.word in speech().words["joints"]


def _merged(
    typed: Sequence[Token], parts: Sequence[tuple[int, int]], words: Lexicon
) -> Sequence[tuple[int, int]]:
    """Join the parts of a list: "weights, gradients and states are sharded" is one clause."""
    joined: list[tuple[int, int]] = []
    waiting: int | None = None
    for first, last in parts:
        if not _is_member(typed[first : last + 1], words):
            joined.append((first if waiting is None else waiting, last))
            waiting = None
        elif not joined or _is_verdict(typed[joined[-1][0] : joined[-1][1] + 1]):
            waiting = first if waiting is None else waiting
        elif typed[joined[-1][1]].quoted != typed[first].quoted:
            joined.append((first, last))
        else:
            joined[-1] = (joined[-1][0], last)
    if waiting is not None:
        joined.append((waiting, parts[-1][1]))
    return joined


def _is_verdict(part: Sequence[Token]) -> bool:
    """Return whether a part is a verdict and no more: "well, false"."""
    known = speech()
    judging = known.words["true"] | known.words["false"] | verdict_words()
    return all(token.word in judging | known.words["interjections"] for token in part)


def _is_member(part: Sequence[Token], words: Lexicon) -> bool:
    """Return whether a part may be one member of a list."""
    known = speech()
    if len(part) > LONGEST_MEMBER or part[0].word in known.words["apart"]:
        return False
    telling = verdict_words() | known.words["negators"] | known.words["joints"]
    telling |= known.words["alone"] if len(part) == 1 else frozenset()
    return telling.isdisjoint(t.word for t in part) and not says_something(part, words)


def verdict_words() -> frozenset[str]:
    """Return the words that state a verdict, letters among them."""
    known = speech()
    plain = known.words["true"] | known.words["false"]
    return plain - known.words["alone"] | {"right", "t", "f", "y", "n"}
