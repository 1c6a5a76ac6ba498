"""What of an answer counts: its words, its concepts two by two, its verdict and its length.

A feature is written as people can read it: "shard" is a word by its stem, "not shard" one that is
denied, "told shard" one that is quoted, told of others or taken back; "<shard>" is a concept,
"<activation> <shard>" two of one clause; "=right" is the verdict stated, "length 3" the size.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

from problems.claims import Claim
from quiz.claims.clauses import Clause
from quiz.claims.lexicon import SKIPPED
from quiz.claims.reading import Reading
from quiz.claims.speech import speech
from quiz.claims.splitting import verdict_words
from quiz.claims.text import Token

ALWAYS = "always"
BREAKS = frozenset({"weak", "strong", "quote"})
LITTLE = ("function", "interjections", "pronouns", "negators", "echo_fillers", "echo_verbs")
# From so many telling words on, an answer is of the next length.
LENGTHS = (1, 2, 4, 7, 12, 20)


def features(asked: Claim, answer: Reading) -> Mapping[str, frozenset[int]]:
    """Return each feature of an answer, with the indices of the tokens that make it up."""
    places: dict[str, set[int]] = defaultdict(set)
    for clause in answer.said:
        for name, where in _of_clause(answer.typed, clause):
            places[name] |= where
    verdict = _verdict(asked, answer)
    length = f"length {bisect(LENGTHS, len(telling(answer)))}"
    stated = {at for one in answer.stated[-1:] for at in range(one.first, one.last + 1)}
    places |= {ALWAYS: set(), verdict: stated, length: set(), f"{length} {verdict}": set()}
    return {name: frozenset(where) for name, where in places.items()}


def plain_names(typed: Sequence[Token], said: Iterable[Clause]) -> tuple[str, ...]:
    """Return the words and concepts of clauses that are the writer's own, in their order."""
    names = (name for clause in said for name, _ in _of_clause(typed, clause))
    return tuple(name for name in dict.fromkeys(names) if is_plain(name))


def telling(answer: Reading) -> frozenset[str]:
    """Return the stems beside the verdict, the denials and the little words."""
    little = _little_words()
    return frozenset(
        token.stem
        for token in answer.typed
        if token.kind in {"word", "number"} and token.word not in little
    )


@cache
def _little_words() -> frozenset[str]:
    lists = (speech().words[name] for name in LITTLE)
    return frozenset[str]().union(*lists, verdict_words(), SKIPPED)


def is_plain(name: str) -> bool:
    """Return whether a feature is a word or a concept of the writer's own, denied or not."""
    of_all = name == ALWAYS or name.startswith(("=", "length "))
    return not (of_all or name.startswith("told ") or "> <" in name)


def _of_clause(typed: Sequence[Token], clause: Clause) -> Iterator[tuple[str, set[int]]]:
    told = "" if clause.asserted else "told "
    denied = _denied(clause)
    for at in range(clause.first, clause.last + 1):
        if typed[at].kind not in BREAKS:
            yield f"{told}{typed[at].stem}", {at}
            if at in denied:
                yield f"{told}not {typed[at].stem}", {at}
    if clause.asserted:
        yield from _concepts(clause)


def _denied(clause: Clause) -> frozenset[int]:
    """Return the indices of the tokens that an odd number of negations denies."""
    denied: set[int] = set()
    for negation in clause.negations:
        denied ^= set(range(negation.first, negation.last + 1)) - {negation.at}
    return frozenset(denied)


def _concepts(clause: Clause) -> Iterator[tuple[str, set[int]]]:
    """Yield the concepts that a clause names or takes up, and each two of them."""
    places: dict[str, set[int]] = defaultdict(set)
    for mention in (*clause.mentions, *clause.spoken_of):
        places[f"<{mention.concept}>"] |= set(range(mention.first, mention.last + 1))
    denied = "not " if len(clause.negations) % 2 else ""
    for name, where in places.items():
        yield f"{denied}{name}", where
    for one, other in combinations(sorted(places), 2):
        yield f"{denied}{one} {other}", places[one] | places[other]


def _verdict(asked: Claim, answer: Reading) -> str:
    if not answer.stated:
        return "=none"
    last = answer.stated[-1]
    return f"={'right' if last.value == asked.truth else 'wrong'}{' hedged' * last.hedged}"
