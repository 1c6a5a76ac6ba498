"""Typed lines as clauses: what is said at once, with its words and where they were typed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from quiz.answers.quantity import RefusalError
from quiz.claims.stems import stem
from quiz.claims.text import LONGEST_REASON, Token, tokens
from quiz.interview.abbreviations import spelled_out
from quiz.interview.cues import (
    ALL,
    ANSWERED,
    ASKED_WHICH,
    BITS,
    CANCELLING,
    INTERJECTIONS,
    JOINTS,
    NEGATORS,
    TAKEN_BACK,
    VERBS,
    stems_of,
)

# Words in a member of a list: "the optimizer states".
LONGEST_MEMBER = 4
# What stands before these is no verb: "reduce buckets", "shard size".
NAMED_BY_VERB = frozenset(map(stem, ("bucket", "buffer", "size")))
# Joints that go on behind these words.
GO_ON = {"which": ASKED_WHICH, "that": TAKEN_BACK, "because": NEGATORS, "since": NEGATORS}
BREAKS = frozenset({"strong", "weak"})


@dataclass(frozen=True, kw_only=True)
class Clause:
    """What is said at once. `words` is the clause as it was typed."""

    said: tuple[Token, ...]
    words: str

    def has(self, listed: str) -> bool:
        """Return whether an entry of a list of `quiz.interview.cues` stands in it."""
        return any(True for _ in self.places(listed))

    def places(self, listed: str) -> Iterator[int]:
        """Yield where an entry of such a list begins."""
        stems = tuple(token.stem for token in self.said)
        for at in range(len(stems)):
            if stems[at + 1 : at + 2] and stems[at + 1] in NAMED_BY_VERB:
                continue
            if any(stems[at : at + len(one)] == one for one in stems_of(listed)):
                yield at

    @property
    def negators(self) -> tuple[int, ...]:
        """Where it denies."""
        return tuple(at for at in range(len(self.said)) if self._denies(at))

    def _denies(self, at: int) -> bool:
        word = self.said[at].word
        if word not in NEGATORS:
            return False
        following = self.said[at + 1].word if at + 1 < len(self.said) else ""
        if word == "no" and at == 0 and (following in ANSWERED or not following):
            return False
        return following not in CANCELLING


@lru_cache(maxsize=1024)
def clauses(line: str) -> tuple[Clause, ...]:
    """Return the clauses of a line, in their order; none where it has no words."""
    plain = line[:LONGEST_REASON]
    return tuple(
        Clause(said=tuple(part), words=_typed(plain, part))
        for part in _joined(tuple(_parts(typed_words(plain))))
    )


def typed_words(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line, whatever stands in it, and short forms as the long ones."""
    while True:
        try:
            return tuple(spelled_out(tokens(line)))
        except RefusalError as error:
            at = error.unreadable.offset
            line = f"{line[:at]} {line[at + 1 :]}"


def _typed(line: str, part: Sequence[Token]) -> str:
    return line[part[0].start : part[-1].end]


def _parts(said: Sequence[Token]) -> Iterator[tuple[list[Token], bool]]:
    """Yield what stands between breaks, and whether it may be a member of a list."""
    part: list[Token] = []
    for at, token in enumerate(said):
        if token.kind in BREAKS or _joins(said, at):
            if part:
                yield part, token.kind == "weak" and _goes_on(said, at)
            part = []
        if token.kind not in BREAKS and token.kind != "quote":
            part.append(token)
    if part:
        yield part, False


def _goes_on(said: Sequence[Token], at: int) -> bool:
    """Return whether what stands behind a weak break may belong to what is before it."""
    if said[at].word != "(":
        return said[at].word in {",", ":"}
    following = said[at + 1 : at + 2]
    return any(token.kind == "number" or token.word in BITS for token in following)


def _joins(said: Sequence[Token], at: int) -> bool:
    word = said[at].word
    if word == "and":
        return _says(_until(said, at, -1)) and _says(_until(said, at, 1))
    if word not in JOINTS:
        return False
    before = said[at - 1].word if at else ""
    if before in GO_ON.get(word, ()):
        return False
    return not (word == "but" and before in ALL)


def _until(said: Sequence[Token], at: int, step: int) -> list[Token]:
    """Return the tokens beside `at` up to the next break or joint."""
    found: list[Token] = []
    place = at + step
    while 0 <= place < len(said):
        token = said[place]
        if token.kind in BREAKS or token.word in JOINTS or token.word == "and":
            break
        found.append(token)
        place += step
    return found


def _says(part: Sequence[Token]) -> bool:
    verbs = {one[0] for one in stems_of(VERBS)}
    return any(token.stem in verbs or token.word in {"not", "never"} for token in part)


def _joined(parts: Sequence[tuple[list[Token], bool]]) -> Iterator[list[Token]]:
    """Join the members of a list with what is said of them: "weights, logits are whole"."""
    waiting: list[Token] = []
    at = 0
    while at < len(parts):
        part, goes_on = parts[at]
        at += 1
        if goes_on and _is_member(part):
            waiting += part
            continue
        if waiting and part[0].word in JOINTS:
            yield waiting
            waiting = []
        more = _denied_too(parts, at) if goes_on and _negates(part) else 0
        yield waiting + sum((one for one, _ in parts[at : at + more]), part)
        waiting = []
        at += more
    if waiting:
        yield waiting


def _denied_too(parts: Sequence[tuple[list[Token], bool]], at: int) -> int:
    """Return how many parts go on with what is denied: "not the weights, logits or norms"."""
    for index, (part, goes_on) in enumerate(parts[at:], 1):
        if not _is_member(part):
            return 0
        if any(token.word in {"or", "nor"} for token in part):
            return index
        if not goes_on:
            return 0
    return 0


def _negates(part: Sequence[Token]) -> bool:
    return len(part) > 1 and any(token.word in NEGATORS for token in part)


def _is_member(part: Sequence[Token]) -> bool:
    if all(token.word in INTERJECTIONS for token in part):
        return False
    short = len(part) <= LONGEST_MEMBER and all(token.kind == "word" for token in part)
    return short and part[0].word not in JOINTS | NEGATORS and not _says(part)
