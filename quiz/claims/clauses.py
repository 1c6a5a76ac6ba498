"""An answer in clauses: what each speaks of, what it denies, and what it only quotes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from quiz.claims.lexicon import Lexicon, Mention
from quiz.claims.speech import speech
from quiz.claims.splitting import ranges, says_something
from quiz.claims.text import Token

# A pronoun that stands for what was named before stands near the beginning.
NEAR = 4
# More denials than anybody means in one clause.
MOST_DENIALS = 12


@dataclass(frozen=True, kw_only=True)
class Negation:
    """A word that denies, and the tokens that it denies."""

    at: int
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Clause:
    """What is said at once.

    Args:
        first: index of its first token.
        last: index of its last one.
        sentence: number of its sentence.
        words: those of its tokens.
        stems: theirs.
        mentions: the concepts that it names.
        spoken_of: those of clauses before it that it takes up without naming them again.
        negations: what it denies.
        reported: it tells what others say.
        quoted: it stands in a quotation.
        corrected: the writer takes it back behind it.
        hedged: it says that something holds in part: "kind of".
        says: it holds a verb or a relation.
    """

    first: int
    last: int
    sentence: int
    words: tuple[str, ...]
    stems: tuple[str, ...]
    mentions: tuple[Mention, ...]
    spoken_of: tuple[Mention, ...] = ()
    negations: tuple[Negation, ...] = ()
    reported: bool = False
    quoted: bool = False
    corrected: bool = False
    hedged: bool = False
    says: bool = False

    @property
    def asserted(self) -> bool:
        """Whether the writer says it as their own."""
        return not (self.reported or self.quoted or self.corrected)


def clauses(
    typed: Sequence[Token], mentions: Sequence[Mention], words: Lexicon
) -> tuple[Clause, ...]:
    """Split an answer into clauses; each knows what it takes up from those before it."""
    plain = []
    for first, last, sentence in ranges(typed, words, mentions):
        own = tuple(m for m in mentions if first <= m.first and m.last <= last)
        plain.append(_clause(typed[first : last + 1], own, words, first, sentence))
    return tuple(_taken_up(_with_corrections(plain)))


def opens(said: Sequence[str], at: int) -> bool:
    """Return whether nothing but interjections stands before this word."""
    return speech().words["interjections"].issuperset(w for w in said[:at] if w[0].isalnum())


def _clause(
    part: Sequence[Token], own: tuple[Mention, ...], words: Lexicon, first: int, sentence: int
) -> Clause:
    said = tuple(token.word for token in part)
    stems = tuple(token.stem for token in part)
    return Clause(
        first=first,
        last=first + len(part) - 1,
        sentence=sentence,
        words=said,
        stems=stems,
        mentions=own,
        negations=tuple(islice(_negations(part, own, first), MOST_DENIALS)),
        reported=speech().has("reports", said) or speech().has("reports", stems),
        quoted=all(token.quoted or token.kind == "quote" for token in part),
        hedged=speech().has("hedges", said),
        says=says_something(part, words),
    )


def _negations(part: Sequence[Token], own: Sequence[Mention], first: int) -> Iterator[Negation]:
    known, said = speech(), [token.word for token in part]
    for at, word in enumerate(said):
        denies = word in known.words["negators"] or known.longest_at("instead", said, at)
        if not denies or known.longest_at("cancelled", said, at):
            continue
        if word == "no" and opens(said, at) and _answers(said, at, first):
            continue
        yield _scope(part, own, first + at, first)


def _answers(said: Sequence[str], at: int, first: int) -> bool:
    """Return whether a "no" that opens a clause answers the claim and does not deny a thing."""
    if at + 1 == len(said):
        return True
    following, known = said[at + 1], speech()
    if not following[0].isalnum():
        return True
    begins = first + at == 0 and len(said) > at + 2
    return following in known.words["answering"] or (
        begins and following in known.words["answering_first"]
    )


def _scope(part: Sequence[Token], own: Sequence[Mention], index: int, first: int) -> Negation:
    """Return what a negator denies: what stands behind it, or all where nothing does."""
    last = first + len(part) - 1
    behind = [m for m in own if m.first > index]
    if not behind and part[index - first].word == "without":
        return Negation(at=index, first=index, last=index)
    if not behind:
        return Negation(at=index, first=first, last=last)
    if part[index - first].word not in speech().words["determiners"]:
        return Negation(at=index, first=index, last=last)
    thing = next((m for m in behind if m.sort == "things"), behind[0])
    stops = speech().words["pronouns"] | {"and", "with"}
    end = next(
        (at - 1 for at in range(thing.last + 1, last + 1) if part[at - first].word in stops), last
    )
    return Negation(at=index, first=index, last=end)


def _with_corrections(plain: Sequence[Clause]) -> Sequence[Clause]:
    """Mark what stands before the last place where the writer takes something back."""
    pairs = [(None, plain[0]), *pairwise(plain)] if plain else []
    back = [c.first for before, c in pairs if _takes_back(c.words) or _no_behind(before, c)]
    return [replace(c, corrected=c.first < back[-1]) for c in plain] if back else plain


def _takes_back(said: Sequence[str]) -> bool:
    waits = "wait" in said[1:] and not opens(said, said.index("wait"))
    return speech().has("corrections", said) and not waits and not speech().has("awaiting", said)


def _no_behind(before: Clause | None, clause: Clause) -> bool:
    """Return whether "hmm, no" stands here, later than at the beginning."""
    if before is None or not before.first or clause.words[0] not in {"no", "not"}:
        return False
    return speech().words["interjections"].issuperset(before.words)


def _taken_up(plain: Sequence[Clause]) -> Iterator[Clause]:
    """Yield each clause with what it takes up: things behind "they", a verb left out."""
    before: tuple[Mention, ...] = ()
    for previous, clause in pairwise([None, *plain]):
        if clause is None:
            continue
        same = previous is not None and previous.sentence == clause.sentence
        found = _of_before(clause, before, same=same)
        yield replace(clause, spoken_of=found)
        named = any(m.sort == "things" for m in clause.mentions)
        before = (*clause.mentions, *(m for m in found if m.sort == "does" or not named))


def _of_before(clause: Clause, before: Sequence[Mention], *, same: bool) -> tuple[Mention, ...]:
    """Return what a clause takes up, of the same sentence or of another."""
    sorts = {m.sort for m in clause.mentions}
    pronoun = clause.words[0] == "still" or not speech().words["pronouns"].isdisjoint(
        clause.words[:NEAR]
    )
    things = pronoun or (same and "things" not in sorts)
    does = (same or _adds(clause.words)) and not clause.says and "does" not in sorts
    taken = {sort for sort, takes in (("things", things), ("does", does)) if takes}
    return tuple(m for m in before if m.sort in taken)


def _adds(said: Sequence[str]) -> bool:
    """Return whether a clause goes on with what was said: "and gradients as well"."""
    known = speech()
    return said[0] in known.words["adding_first"] or said[-1] in known.words["adding_last"]
