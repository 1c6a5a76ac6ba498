"""The concepts of the field and where an answer mentions them."""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from quiz.answers.ranking_names import one_slip
from quiz.claims.text import Token, tokens

WORDS = Path(__file__).parents[1] / "data" / "claim_words.toml"

# Words that tell no phrase from another: "each of the ranks", "each rank".
SKIPPED = frozenset({
    "the", "a", "an", "of", "its", "their", "his", "her", "my", "your", "our", "really", "too",
    "even", "then", "quite", "very", "simply", "basically", "literally", "such", "actually", "ur",
    "ya",
})  # fmt: skip
GAP = "_"
WIDEST_GAP = 2
# With fewer letters every word is one letter away from another.
SHORTEST_TYPO = 6

Sort = Literal["things", "does", "marks"]
SORTS: tuple[Sort, ...] = ("things", "does", "marks")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A concept heard.

    Args:
        concept: its name in the table of words.
        sort: things can be spoken of by "they"; what they do cannot.
        first: index of its first token.
        last: index of its last token.
    """

    concept: str
    sort: Sort
    first: int
    last: int


@dataclass(frozen=True)
class _Phrase:
    stems: tuple[str, ...]
    concepts: tuple[tuple[str, Sort], ...]


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """Phrases by the stem they begin with, and every stem that one of them has.

    Args:
        phrases: the longest first.
        stems: of all phrases and verbs, and of common words.
        long_stems: those that a slip may be meant for, by their first letter.
        verbs: stems of words that make a clause say something.
    """

    phrases: Mapping[str, tuple[_Phrase, ...]]
    stems: frozenset[str]
    long_stems: Mapping[str, tuple[str, ...]]
    verbs: frozenset[str]

    def mentions(self, typed: Sequence[Token]) -> tuple[Mention, ...]:
        """Return every concept mentioned; a thing or quality within a longer phrase is none."""
        counted = [
            (index, self._known(token))
            for index, token in enumerate(typed)
            if token.word not in SKIPPED
        ]
        stems = [known for _, known in counted]
        found: list[Mention] = []
        heard: dict[str, int] = {}
        for at, (index, known) in enumerate(counted):
            for phrase in self.phrases.get(known, ()):
                end = _match(phrase.stems, stems, at)
                if end is None:
                    continue
                for concept, sort in phrase.concepts:
                    if heard.get(concept, -1) < counted[end - 1][0]:
                        heard[concept] = counted[end - 1][0]
                        last = counted[end - 1][0]
                        found.append(Mention(concept=concept, sort=sort, first=index, last=last))
        return tuple(_outermost(found))

    def _known(self, token: Token) -> str:
        if token.kind != "word" or token.stem in self.stems or len(token.word) < SHORTEST_TYPO:
            return token.stem
        return _near(token.stem, self.long_stems.get(token.stem[0], ()))


def _match(phrase: Sequence[str], stems: Sequence[str], at: int) -> int | None:
    """Return where the phrase that begins at `at` ends, None where another stands there."""
    for place, wanted in enumerate(phrase):
        if wanted == GAP:
            rest = phrase[place + 1 :]
            ends = (_match(rest, stems, at + gap) for gap in range(WIDEST_GAP + 1))
            return next((end for end in ends if end is not None), None)
        if at >= len(stems) or stems[at] != wanted:
            return None
        at += 1
    return at


def _outermost(found: Sequence[Mention]) -> Iterator[Mention]:
    longer = [mention for mention in found if mention.first < mention.last]
    for mention in found:
        within = any(
            other.first <= mention.first
            and mention.last <= other.last
            and (other.first, other.last) != (mention.first, mention.last)
            for other in longer
            if other.sort == "things" or mention.sort != "does"
        )
        if not within:
            yield mention


@cache
def _near(typed: str, known: tuple[str, ...]) -> str:
    """Return the stem one letter away, the typed one where there is none."""
    return next((stem for stem in known if one_slip(typed, stem)), typed)


@cache
def lexicon() -> Lexicon:
    """Return the concepts as the table of words has them."""
    table = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    broader: Mapping[str, list[str]] = table["broader"]
    concepts: dict[tuple[str, ...], list[tuple[str, Sort]]] = defaultdict(list)
    for sort in SORTS:
        for concept, phrases in table[sort].items():
            meant: list[tuple[str, Sort]] = [
                (name, sort) for name in (concept, *broader.get(concept, ()))
            ]
            for stems in _phrases(phrases):
                concepts[stems] += [one for one in meant if one not in concepts[stems]]
    verbs = frozenset(stems[0] for stems in _phrases(table["verbs"]["list"]))
    known = {stem for stems in concepts for stem in stems} | verbs
    plain = {stem for stems in _phrases(table["plain"]["list"]) for stem in stems}
    return Lexicon(
        phrases=_by_first(concepts),
        stems=frozenset(known | plain),
        long_stems=_by_letter(known | plain),
        verbs=verbs,
    )


def _by_letter(stems: set[str]) -> Mapping[str, tuple[str, ...]]:
    long = sorted(stem for stem in stems if len(stem) >= SHORTEST_TYPO - 1)
    return {letter: tuple(found) for letter, found in groupby(long, key=lambda stem: stem[0])}


def _by_first(
    concepts: Mapping[tuple[str, ...], list[tuple[str, Sort]]],
) -> Mapping[str, tuple[_Phrase, ...]]:
    by_first: dict[str, list[_Phrase]] = defaultdict(list)
    for stems in sorted(concepts, key=len, reverse=True):
        by_first[stems[0]].append(_Phrase(stems, tuple(concepts[stems])))
    return MappingProxyType({first: tuple(found) for first, found in by_first.items()})


def _phrases(listed: str) -> Iterator[tuple[str, ...]]:
    for phrase in listed.replace("\n", " ").split(","):
        parts = [tokens(part) for part in phrase.split(GAP)]
        stems: list[str] = []
        for part in parts:
            stems += [GAP] if stems else []
            stems += [token.stem for token in part if token.word not in SKIPPED]
        if stems:
            yield tuple(stems)
