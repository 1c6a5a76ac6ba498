"""The verdict that an answer states: true or false, how firmly, and where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quiz.claims.clauses import Clause
from quiz.claims.speech import Phrase, speech
from quiz.claims.text import Token

LETTERS = {"t": True, "y": True, "f": False, "n": False}
# A letter that opens an answer is a verdict before one of these, or alone.
REASONS = frozenset({
    "because", "since", "as", "its", "it", "the", "cause", "cuz", "cos", "bc", "obviously",
    "clearly", "definitely", "of", "i", "all", "each", "every", "lol", "sorry",
})  # fmt: skip
# Behind "is" or "not" these judge the claim.
RATINGS = frozenset({"right", "valid", "accurate"})
# Who closes a sentence with one of these judges nothing.
TAGS = frozenset({"yeah", "right", "yep"})
# These judge the claim or a thing that stands behind them.
JUDGING = frozenset({"true", "right", "correct", "wrong"})
# An echo such as "it does" is about the clause before it, unless that is as short as this.
SHORT = 3
# In a longer clause that tells what others say, an idiom is theirs.
LONG = 8
# "True that it falls" is a verdict; "true that activations are smaller" grants something.
GRANTED = 4


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A verdict in so many words.

    Args:
        value: whether the claim is called true.
        hedged: it is said to hold in part: "true-ish".
        first: index of its first token.
        last: index of its last one.
    """

    value: bool
    hedged: bool
    first: int
    last: int


def stated(
    typed: Sequence[Token], said: Sequence[Clause], *, negative: bool = False
) -> tuple[Stated, ...]:
    """Return every verdict stated, in order, but for what is quoted, told or taken back.

    Args:
        typed: the answer.
        said: its clauses.
        negative: whether the claim denies something, so that "it does" contradicts it.
    """
    back = max((clause.last + 1 for clause in said if clause.corrected), default=0)
    granted = {clause.first for clause in _granted(said)}
    return tuple(
        verdict
        for previous, clause in pairwise([None, *said])
        if clause is not None and not clause.quoted and clause.first >= back
        if clause.first not in granted
        for verdict in _in_clause(typed, clause, previous, negative=negative)
        if not (clause.reported and verdict.value)
    )


def _granted(said: Sequence[Clause]) -> Iterator[Clause]:
    """Yield "..., true, but ...": clauses that grant what stands before them and no more."""
    for before, clause, behind in zip(said, said[1:], said[2:], strict=False):
        judged = speech().words["echo_subjects"] | {"is"}
        rest = [word for word in clause.words if word not in judged]
        grants = before.sentence == clause.sentence and rest and set(rest) <= JUDGING
        if grants and before.says and behind.words[0] in {"but", "yet", "however"}:
            yield clause
    last = {clause.sentence: clause for clause in said}
    for before, clause in pairwise(said):
        closes = before.sentence == clause.sentence and clause is last[clause.sentence]
        if closes and before.first and before.says and TAGS.issuperset(clause.words):
            yield clause


def _in_clause(
    typed: Sequence[Token], clause: Clause, previous: Clause | None, *, negative: bool
) -> Iterator[Stated]:
    answers = previous is None or not previous.asserted or previous.last - previous.first < SHORT
    echoed = _echo(clause.words) if answers else None
    if echoed is not None:
        yield _said(clause, 0, len(clause.words), value=echoed != negative)
        return
    yield from _of_happening(clause, negative=negative)
    if previous is None:
        yield from _of_not(clause)
    at = 0
    while at < len(clause.words):
        idiom = _idiom(clause, at)
        if idiom:
            yield _said(clause, at, len(idiom[0]), value=idiom[1])
        else:
            yield from _of_word(typed, clause, at, opening=previous is None)
        at += len(idiom[0]) if idiom else 1


def _said(clause: Clause, at: int, length: int, *, value: bool) -> Stated:
    return Stated(
        value=value,
        hedged=clause.hedged,
        first=clause.first + at,
        last=clause.first + at + length - 1,
    )


def _echo(words: Sequence[str]) -> bool | None:
    """Return what "it does" or "no they don't" says; None for any other clause."""
    known = speech()
    if words[-1] in known.words["no"]:
        return None
    rest = [word for word in words if word not in known.words["echo_fillers"]]
    match rest:
        case [subject, verb, *behind] if subject in known.words["echo_subjects"]:
            if verb in known.words["echo_verbs"] and behind in ([], ["not"]):
                return not behind
    return None


def _of_happening(clause: Clause, *, negative: bool) -> Iterator[Stated]:
    for at in range(len(clause.words)):
        phrase = speech().longest_at("happens", clause.words, at)
        if phrase and _stands(phrase, clause.words, at):
            yield _said(clause, at, len(phrase), value=not negative)
            return


def _of_not(clause: Clause) -> Iterator[Stated]:
    """Yield the verdict of an answer that begins with "not"."""
    words = clause.words
    if words[0] == "not" and not speech().longest_at("cancelled", words, 0):
        # "Not false" states what it means behind this: the last verdict counts.
        yield _said(clause, 0, 1, value=False)


def _idiom(clause: Clause, at: int) -> tuple[Phrase, bool] | None:
    if clause.reported and len(clause.words) > LONG:
        return None
    for name, value in (("false_phrases", False), ("true_phrases", True)):
        phrase = speech().longest_at(name, clause.words, at)
        if phrase and _stands(phrase, clause.words, at):
            return phrase, value
    return None


def _stands(phrase: Phrase, words: Sequence[str], at: int) -> bool:
    """Return whether an idiom is one here: some are only at the beginning or at the end."""
    known = speech()
    first, last = at == 0, at + len(phrase) == len(words)
    if phrase in known.phrases["first_phrases"]:
        return first
    if phrase in known.phrases["last_phrases"]:
        return last
    if phrase in known.phrases["edge_phrases"]:
        return first or last
    if phrase in known.phrases["short_phrases"]:
        return first or last or words[at - 1] in known.words["before_short"]
    return True


def _of_word(
    typed: Sequence[Token], clause: Clause, at: int, *, opening: bool
) -> Iterator[Stated]:
    word = _word(typed, clause, at, opening=opening)
    if word is None:
        return
    plain = clause.words[at] in speech().words["yes"] | speech().words["no"]
    value = word != (not plain and bool(_denials(clause, clause.first + at) % 2))
    if not (value and _grants_that(clause.words, at)):
        yield _said(clause, at, 1, value=value)


def _denials(clause: Clause, index: int) -> int:
    return sum(n.first <= index <= n.last and n.at < index for n in clause.negations)


def _word(typed: Sequence[Token], clause: Clause, at: int, *, opening: bool) -> bool | None:
    """Return the verdict that one word states; None where it states none."""
    words, known = clause.words, speech()
    word = words[at]
    if typed[clause.first + at].quoted or _is_code(typed, clause.first + at):
        return None
    if word in LETTERS:
        return LETTERS[word] if _is_letter(typed, clause, at, opening=opening) else None
    if word not in known.words["true"] | known.words["false"]:
        return None
    if word in known.words["alone"] and not _counts(words, at, opening=opening):
        return None
    if word in known.words["yes"] | known.words["no"]:
        return _yes_or_no(clause, at)
    of_thing = word in JUDGING and not known.words["things"].isdisjoint(words[at + 1 : at + 2])
    denied = _denials(clause, clause.first + at)
    return None if of_thing and not denied else word in known.words["true"]


def _is_code(typed: Sequence[Token], index: int) -> bool:
    """Return whether True or False is a value in code, not an answer."""
    before = [token.word for token in typed[max(0, index - 2) : index]]
    if index and typed[index - 1].kind == "number":
        return True
    assigned = before[-1:] == ["="] and not {"answer", "verdict", "claim"}.intersection(before)
    return before[-1:] == ["grad"] or assigned


def _is_letter(typed: Sequence[Token], clause: Clause, at: int, *, opening: bool) -> bool:
    """Return whether a letter answers: it stands alone, or opens the answer as no symbol."""
    if len(clause.words) == 1:
        return True
    if not opening or at:
        return False
    behind = typed[clause.first + 1]
    return behind.word in REASONS


def _counts(words: Sequence[str], at: int, *, opening: bool) -> bool:
    """Return whether a word such as "exactly" or "right" is a verdict here."""
    known, word = speech(), words[at]
    if opening and (len(words) == 1 or (at == 0 and word in known.words["opening"])):
        return words[at + 1 : at + 2] == () or words[at + 1] not in known.words["things"]
    return at > 0 and word in RATINGS and words[at - 1] in known.words["before_right"]


def _grants_that(words: Sequence[str], at: int) -> bool:
    """Return whether "true that ..." or "isn't false that ..." grants something else."""
    judges = words[at] in JUDGING | {"false", "untrue"}
    behind = words[at + 1 : at + 3]
    grants = behind[:1] == ("that",) and behind != ("that", "is")
    return judges and grants and len(words) - at > GRANTED


def _yes_or_no(clause: Clause, at: int) -> bool | None:
    """Return a yes or no about the claim; "activations no" is about activations."""
    known, words, index = speech(), clause.words, clause.first + at
    if known.longest_at("cancelled", words, at):
        return None
    value = words[at] in known.words["yes"]
    led = at > 0 and words[at - 1] in known.words["leads"]
    last = at + 1 == len(words)
    if any(n.at == index for n in clause.negations):
        return value if led and last else None
    if any(m.first < index and m.sort == "things" for m in clause.mentions):
        return value if led else None
    return value
