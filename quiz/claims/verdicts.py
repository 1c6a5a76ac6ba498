"""The verdict that an answer states: true or false, how firmly, and where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quiz.claims.clauses import CANCELLED, Clause, _opens, has
from quiz.claims.text import Token

TRUE = frozenset(
    "true tru ture treu corect richtig sure surely yes yep yeah yup yea ya yess ja aye si correct right agree agreed accurate indeed affirmative valid "
    "absolutely definitely certainly totally exactly truth legit confirmed confirm fact facts".split()
)
FALSE = frozenset(
    "false fales flase fasle flse falsch falso falsehood wrogn worng incorect icorrect no nope nah nay wrong incorrect myth disagree nonsense bs bullshit untrue misleading misconception "
    "inaccurate lie bogus rubbish fallacy mistaken negative falsehood wrongly incorrectly hogwash baloney invalid".split()
)
LETTERS = {"t": True, "y": True, "f": False, "n": False}
# Adverbs that are a verdict where they stand alone.
ALONE = frozenset(
    "absolutely definitely certainly totally exactly indeed confirmed facts fact negative affirmative "
    "right valid si ya confirm sure surely".split()
)
PHRASES: tuple[tuple[tuple[str, ...], bool], ...] = tuple(
    (tuple(phrase.strip().split()), value)
    for value, phrases in (
        (
            False,
            "the opposite is true|could not be more wrong|but is not|but does not|but do not|but are not|by no means|no chance|unfortunately not|sadly not|sadly no|afraid not|obviously not|clearly not|clearly no|can not be|true only|only true|could not be further|no way|not really|not at all|not the case|not so|not quite|"
            "not exactly|not necessarily|not always|not entirely|far from it|i doubt|doubt it|of course not|"
            "absolutely not|definitely not|certainly not|surely not|not a chance|common misconception|way off|off base|"
            "does not hold|does not follow|on the contrary|quite the opposite|the opposite|i wish|in your dreams|"
            "if only|not how|nothing of the sort|hardly|does not work like that|does not work that way|"
            "don't buy|do not buy|not buying|lol no|not even close|anything but|not even|not remotely|no sir|"
            "too good to be true|wishful|oversimplified|half the story|not the whole story|does not add up|"
            "not by itself|not anymore|not in practice",
        ),
        (
            True,
            "could not be more true|could not be more right|claim holds|statement holds|that holds|holds true|can not fault|can confirm|of course|for sure|spot on|sounds right|checks out|makes sense|no doubt|without doubt|"
            "could not agree more|cannot agree more|can not agree more|absolutely true|does hold|it holds|"
            "very much so|no question|hard to disagree|can not argue|hard to argue|no lie|you bet|sure does|sure is|sure can|totally",
        ),
    )
    for phrase in phrases.split("|")
)
# These say that what the claim speaks of happens.
HAPPENS: tuple[tuple[str, ...], ...] = tuple(
    tuple(phrase.split())
    for phrase in (
        "it can happen", "yes it can", "happens all the time", "been there", "got bitten", "seen it", "saw it happen",
        "it happens", "can happen", "happened to me", "happens often",
    )
)  # fmt: skip
# A clause that is no more than this repeats the claim or denies it.
ECHO_SUBJECTS = frozenset("it that this they those these which he".split())
ECHO_VERBS = frozenset("does do is are can will would could did has have should".split())
HEDGES = frozenset(
    "ish kinda kindof sorta partly partially mostly somewhat half semi technically sometimes depends "
    "halfway broadly partial largely theoretically effectively imo imho maybe perhaps probably possibly practically normally arguably rather modulo".split()
)
HEDGE_PHRASES = (
    ("kind", "of"), ("sort", "of"), ("more", "or", "less"), ("in", "a", "way"), ("up", "to", "a", "point"),
    ("to", "some", "extent"), ("in", "theory"), ("in", "principle"), ("yes", "and", "no"), ("in", "part"), ("to", "a", "degree"),
    ("almost", "true"), ("nearly", "true"), ("pretty", "much"), ("on", "paper"), ("at", "first"), ("almost",), ("close", "to"), ("roughly",), ("basically",), ("for", "weights"), ("for", "the"), ("true", "for"), ("i", "think"), ("i", "guess"), ("i", "believe"), ("i", "would", "say"), ("id", "say"), ("i", "suppose"), ("in", "general"), ("in", "practice"), ("rule", "of", "thumb"), ("close", "enough"), ("on", "average"), ("usually",), ("true", "enough"), ("not", "quite"), ("not", "really"), ("could", "say"), ("not", "entirely"), ("not", "exactly"), ("often",), ("generally",),
)  # fmt: skip
LEADS = frozenset(": ; so hence therefore thus then -> => = is be ergo answer:  answer say says said id it's i'd verdict think".split())
# A judging word before these speaks of a thing, not of the claim.
NOT_BEFORE = frozenset("number size place thing things way one ones answer reason metric figure cost counter tool idea question formula column before after there now away when at where from".split())


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
    """Return every verdict stated, in order. Quotations and what others say state none.

    Args:
        typed: the answer.
        said: its clauses.
        negative: whether the claim denies something, so that "it does" contradicts it.
    """
    found = [
        verdict
        for previous, clause in pairwise([None, *said])
        if clause is not None and not clause.quoted
        for verdict in _in_clause(typed, clause, previous, negative=negative)
        if not (clause.reported and verdict.value)
    ]
    kept = [verdict for verdict in found if verdict.first >= _taken_back(said)]
    return tuple(kept)


def _taken_back(said: Sequence[Clause]) -> int:
    """Return the token before which everything is taken back."""
    return max((clause.last + 1 for clause in said if clause.corrected), default=0)


def _in_clause(
    typed: Sequence[Token], clause: Clause, previous: Clause | None, *, negative: bool
) -> Iterator[Stated]:
    words = [token.word for token in typed[clause.first : clause.last + 1]]
    opening = previous is None
    echoed = _echo(words) if previous is None or not previous.asserted or previous.last - previous.first < 3 else None
    hedged = _hedged(words)
    if echoed is not None:
        yield Stated(value=echoed != negative, hedged=hedged, first=clause.first, last=clause.last)
        return
    happens = next((p for p in HAPPENS if has(words, (p,))), None)
    if happens:
        at = next(at for at in range(len(words)) if tuple(words[at : at + len(happens)]) == happens)
        place = clause.first + at
        yield Stated(value=not negative, hedged=hedged, first=place, last=place + len(happens) - 1)
    if opening and words[0] == "not" and len(words) > 1 and not has(words[:3], CANCELLED):
        yield Stated(value=bool({"false", "wrong", "incorrect", "untrue"} & set(words[:4])), hedged=hedged, first=clause.first, last=clause.first)
    at = 0
    while at < len(words):
        phrase = next(
            (p for p in PHRASES if tuple(words[at : at + len(p[0])]) == p[0] and _stands(p[0], words, at)),
            None,
        )
        index = clause.first + at
        if phrase and not (clause.reported and len(words) > 8):
            end = index + len(phrase[0]) - 1
            yield Stated(value=phrase[1], hedged=hedged, first=index, last=end)
            at += len(phrase[0])
            continue
        value = _word(typed, clause, words, at, opening=opening)
        if value is not None:
            odd = sum(n.first <= index <= n.last and n.at < index for n in clause.negations) % 2
            yield Stated(value=value != bool(odd), hedged=hedged, first=index, last=index)
        at += 1


def _stands(phrase: tuple[str, ...], words: Sequence[str], at: int) -> bool:
    """Return whether an idiom is one here: some are only at the start or alone."""
    if phrase[0] in {"not", "hardly", "of", "no"} and len(phrase) <= 2 and phrase[-1] not in {"true", "right", "correct", "false", "wrong", "way"}:
        return at == 0 or at + len(phrase) == len(words) or words[at - 1] in {"is", "it", "so", "well", "lol", "no", "nah", "nope"}
    if phrase[-1] in {"be", "not"} and phrase[0] in {"but", "can"}:
        return at + len(phrase) == len(words)
    if phrase == ("of", "course"):
        return at == 0
    if phrase in {("for", "sure"), ("totally",), ("the", "opposite"), ("without", "doubt"), ("no", "doubt"), ("makes", "sense")}:
        return at == 0 or at + len(phrase) == len(words)
    return True


def _echo(words: Sequence[str]) -> bool | None:
    """Return what "it does" or "no they don't" says; None for any other clause."""
    rest = [word for word in words if word not in {"so", "but", "and", "because", "yes", "no", "nope", "yeah", "yep", "sure", "well", "really", "indeed", "just", "nah", "lol", "simply", "also", "at", "all", "actually", "definitely", "of", "course", "still"}]
    if 2 <= len(rest) <= 3 and rest[0] in ECHO_SUBJECTS and rest[1] in ECHO_VERBS:
        if rest[2:] == ["not"]:
            return False
        return True if len(rest) == 2 else None
    return None


def _word(
    typed: Sequence[Token], clause: Clause, words: Sequence[str], at: int, *, opening: bool
) -> bool | None:
    word = words[at]
    index = clause.first + at
    if typed[index].quoted or (index and (typed[index - 1].word == "grad" or (typed[index - 1].word == "=" and index > 1 and typed[index - 2].word not in {"answer", "verdict", "claim"})) and word in {"true", "false"}):
        return None
    following = words[at + 1] if at + 1 < len(words) else ""
    alone = len(words) == 1
    if word in LETTERS:
        starts = opening and at == 0 and (alone or following in {"because", "its", "it", "the"} or typed[index + 1].kind != "sign")
        return LETTERS[word] if (alone or starts) and not (starts and word in "nt" and not alone and following in {"of", "is", "/"}) else None
    if word in ALONE and not ((alone and opening) or (at == 0 and opening and word in {"right", "indeed", "absolutely", "definitely", "exactly", "valid"} and following not in NOT_BEFORE) or (word in {"right", "valid"} and at and words[at - 1] in {"is", "not", "sounds", "absolutely", "be", "seems", "roughly", "mostly", "basically", "essentially", "almost", "about", "quite", "partly", "kinda", "yes"})):
        return None
    if following in NOT_BEFORE and word in {"right", "wrong", "correct", "true"}:
        return None
    if word in {"yes", "no", "nope", "yeah", "yep", "nah", "ya", "yea"}:
        return _yes_or_no(clause, words, at)
    if following == "that" and len(words) - at > 4 and word in {"true", "correct", "right"} and not _denied(clause, index):
        return None
    if word in TRUE:
        return True
    return False if word in FALSE else None


def _denied(clause: Clause, index: int) -> bool:
    return any(n.first <= index <= n.last for n in clause.negations)


def _yes_or_no(clause: Clause, words: Sequence[str], at: int) -> bool | None:
    """Return a yes or no about the claim; "activations no" is about activations."""
    value = words[at] not in {"no", "nope", "nah"}
    index = clause.first + at
    if any(n.at == index for n in clause.negations):
        lead = at > 0 and words[at - 1] in LEADS and at + 1 == len(words)
        return value if lead else None
    if at and any(m.first < index and m.sort == "things" for m in clause.mentions):
        return value if words[at - 1] in LEADS else None
    if at and words[at] == "no" and at + 1 < len(words) and words[at - 1] not in LEADS and not _opens(words, at):
        return None
    return value


def _hedged(words: Sequence[str]) -> bool:
    phrases = any(
        tuple(words[at : at + len(phrase)]) == phrase
        for phrase in HEDGE_PHRASES
        for at in range(len(words))
    )
    return phrases or not HEDGES.isdisjoint(words)
