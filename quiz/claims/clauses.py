"""An answer in clauses: what each speaks of, what it denies, and what it only quotes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from quiz.claims.lexicon import Lexicon, Mention
from quiz.claims.text import Token

NEGATORS = frozenset("not no never none neither nor without nothing hardly barely cannot nobody".split())
# These deny the next thing, and what is said behind that stands.
DETERMINERS = frozenset({"no", "without", "none"})
JOINTS = frozenset(
    "but though although because since while whereas so hence therefore thus unless yet however "
    "which who if as plus otherwise meaning whose".split()
)
# "As" gives a reason before these, and compares behind those.
AS_FOLLOWED = frozenset("it they the this that there each every all you we its only these both he adam backward".split())
COMPARED = frozenset("same much many well big large long high as such twice far not just only".split())
# Behind these a reason or another sentence may speak of something else, but of the same things.
PRONOUNS = frozenset(
    "it they them those these that this which both he she itself themselves its their".split()
)
INSTEAD = (("rather", "than"), ("instead", "of"), ("as", "opposed", "to"), ("far", "from"), ("not", "that"))  # fmt: skip
CANCELLED = (("not", "only"), ("not", "just"), ("not", "merely"), ("no", "matter"), ("not", "sure"),
             ("no", "doubt"), ("not", "even", "close"), ("no", "wonder"), ("no", "way"), ("not", "to", "mention"),
             ("no", "idea"), ("no", "more", "than"), ("not", "more", "than"), ("not", "simply"), ("no", "free", "lunch"))  # fmt: skip
REPORTS = (
    ("people", "say"), ("people", "think"), ("people", "claim"), ("people", "believe"), ("everyone", "say"), ("everybody", "say"), ("everyone", "think"),
    ("everybody", "think"), ("some", "say"), ("some", "think"), ("they", "say"), ("they", "claim"), ("supposedly",), ("allegedly",), ("you", "would", "think"),
    ("one", "would", "think"), ("you", "might", "think"), ("you", "may", "think"), ("one", "might", "think"), ("i", "used", "to", "think"),
    ("i", "used", "to", "believe"), ("i", "thought"), ("first", "thought"), ("claim", "say"), ("claim", "that"),
    ("kept", "saying"), ("keep", "saying"), ("keeps", "saying"), ("common", "belief"), ("as", "if"), ("as", "though"),
    ("blog", "say"), ("somebody", "told"), ("someone", "told"), ("coworker", "said"), ("colleague", "said"), ("told", "me"), ("idea", "that"), ("sounds", "like"),
    ("you", "would", "expect"), ("one", "would", "expect"), ("would", "only", "be", "true"), ("if", "only"), ("would", "be", "true"), ("would", "be", "right"), ("wish",), ("assume",), ("assumes",), ("pretend",),
    ("naively",), ("would", "need"), ("would", "have", "to"), ("would", "require"), ("would", "mean"), ("if", "that"), ("if", "it"), ("if", "this"), ("if", "they"), ("if", "you"), ("nobody", "would"), ("no", "one", "would"), ("imagine",), ("even", "if"), ("might", "expect"), ("unless",), ("at", "first", "glance"), ("it", "looks", "like"), ("looks", "like"), ("seems", "like"), ("seems",),
    ("only", "true", "if"), ("true", "only", "if"), ("i", "expected"), ("forgets",), ("confuse",), ("confuses",), ("confusing",), ("mixes", "up"), ("mixing", "up"),
)  # fmt: skip
CORRECTIONS = (
    ("wait",), ("hang", "on"), ("hold", "on"), ("scratch", "that"), ("strike", "that"),
    ("on", "second", "thought"), ("second", "thought"), ("correction",), ("my", "bad"), ("let", "me", "rethink"),
    ("i", "take", "that", "back"), ("take", "it", "back"), ("take", "that", "back"), ("sorry",), ("oops",), ("edit",), ("changed", "my", "mind"), ("change", "my", "mind"), ("changing", "my", "answer"),
    ("thinking", "about", "it"), ("thinking", "more"), ("come", "to", "think"), ("no", "actually"), ("actually", "no"), ("actually", "yes"), ("hmm", "no"), ("no", "no"),
    ("ah", "no"), ("oh", "no"), ("er", "no"), ("uh", "no"), ("i", "misread"), ("misread",), ("nvm",), ("never", "mind"), ("nevermind",), ("ugh",), ("reconsider",), ("or", "rather"), ("hmm", "actually"), ("well", "actually"),
)  # fmt: skip


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
        stems: those of its tokens.
        mentions: the concepts that it names.
        spoken_of: those of clauses before it that it takes up without naming them again.
        negations: what it denies.
        reported: it tells what others say.
        quoted: it stands in a quotation.
        corrected: the writer takes it back behind it.
        says: it holds a verb or a relation.
    """

    first: int
    last: int
    sentence: int
    stems: tuple[str, ...]
    mentions: tuple[Mention, ...]
    spoken_of: tuple[Mention, ...] = ()
    negations: tuple[Negation, ...] = ()
    reported: bool = False
    quoted: bool = False
    corrected: bool = False
    says: bool = False

    @property
    def asserted(self) -> bool:
        """Whether the writer says it as their own."""
        return not (self.reported or self.quoted or self.corrected)


def clauses(
    typed: Sequence[Token], mentions: Sequence[Mention], words: Lexicon
) -> tuple[Clause, ...]:
    """Split an answer into clauses; each knows what it takes up from those before it."""
    plain = [
        _clause(typed, mentions, words, first, last, sentence)
        for first, last, sentence in _ranges(typed, words, mentions)
    ]
    return tuple(_taken_up(typed, _with_corrections(typed, plain), words))


def has(words: Sequence[str], phrases: Sequence[tuple[str, ...]]) -> bool:
    """Return whether one of the phrases stands in these words."""
    return any(
        tuple(words[at : at + len(phrase)]) == phrase
        for phrase in phrases
        for at in range(len(words) - len(phrase) + 1)
    )


def says_something(part: Sequence[Token], words: Lexicon) -> bool:
    """Return whether these tokens hold a verb or a relation."""
    return any(
        token.stem in words.verbs or token.word in {"not", "still"} or (token.kind == "sign" and token.word in {"=", "<", ">", "->", "=>", "==", "~"})
        for token in part
    )


# Verbs whose participles name things: reserved, allocated, cached.
NAMING = frozenset({"reserv", "allocat", "cach", "train", "shard", "free", "fre"})


def is_salad(typed: Sequence[Token], words: Lexicon) -> bool:
    """Return whether an answer is a row of keywords: no word joins them, no verb is inflected."""
    return not any(
        token.word in JOINING
        or (token.kind == "sign" and token.word not in {"-", "/"})
        or (token.kind == "word" and token.stem in words.verbs - NAMING and token.word.endswith(("ed", "ing")))
        for token in typed
    )


JOINING = (
    PRONOUNS | NEGATORS | JOINTS
    | frozenset(
        "a an the of in on at to for by with from into per as so is are was were be been do does did has have "
        "had can could will would should may might must and or only just still also too each every all both "
        "same more less than then there here what i you we my your our one up out back over under yes get gets stay stays keep keeps live lives need needs go goes".split()
    )
)  # fmt: skip


def _ranges(
    typed: Sequence[Token], words: Lexicon, mentions: Sequence[Mention]
) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last token of each clause, and the number of its sentence."""
    within = {at for m in mentions if m.sort == "things" for at in range(m.first + 1, m.last + 1)}
    sentence, parts = 0, []
    start = 0
    for index, token in enumerate([*typed, None]):
        strong = token is None or token.kind == "strong"
        soft = token is not None and index not in within and (_parts(typed, index) or _joint(typed, index, words))
        if strong or soft:
            if start < index:
                parts.append((start, index - 1))
            opens = token is not None and token.kind == "word"
            start = index if opens else index + 1
        if strong:
            yield from ((*part, sentence) for part in _merged(typed, parts, words))
            parts = []
            sentence += 1


def _parts(typed: Sequence[Token], index: int) -> bool:
    """Return whether this token only parts what stands on its two sides."""
    token = typed[index]
    beside = [t for t in (*typed[index - 1 : index], *typed[index + 1 : index + 2]) if t.quoted]
    return token.kind == "weak" or (token.kind == "quote" and bool(beside))


def _joint(typed: Sequence[Token], index: int, words: Lexicon) -> bool:
    """Return whether a new clause begins at this word."""
    token = typed[index]
    if token.kind != "word":
        return False
    if token.word in {"and", "or"}:
        return _both_say(typed, index, words)
    following = typed[index + 1].word if index + 1 < len(typed) else ""
    if token.word == "as":
        return following in AS_FOLLOWED and (index == 0 or typed[index - 1].word not in COMPARED)
    if token.word == "so" and following in {"much", "many", "far", "long"}:
        return False
    return token.word in JOINTS


def _both_say(typed: Sequence[Token], index: int, words: Lexicon) -> bool:
    """Return whether a verb stands between this "and" and the breaks on both its sides."""
    before = index
    while before and typed[before - 1].kind not in {"strong", "weak"} and typed[before - 1].word not in JOINTS:
        before -= 1
    after = index + 1
    while after < len(typed) and typed[after].kind not in {"strong", "weak"} and typed[after].word not in JOINTS:
        after += 1
    return says_something(typed[before:index], words) and says_something(typed[index + 1 : after], words)


def _merged(
    typed: Sequence[Token], parts: Sequence[tuple[int, int]], words: Lexicon
) -> Iterator[tuple[int, int]]:
    """Join the parts of a list: "weights, gradients and states are sharded" is one clause."""
    joined: list[tuple[int, int]] = []
    waiting: int | None = None
    for first, last in parts:
        if _listed(typed[first : last + 1], words):
            if joined and typed[joined[-1][1]].quoted != typed[first].quoted:
                joined.append((first, last))
            elif joined:
                joined[-1] = (joined[-1][0], last)
            else:
                waiting = first if waiting is None else waiting
            continue
        joined.append((first if waiting is None else waiting, last))
        waiting = None
    if waiting is not None:
        joined.append((waiting, parts[-1][1]))
    yield from joined


def _listed(part: Sequence[Token], words: Lexicon) -> bool:
    short = len(part) <= 4
    if part[0].word in {"just", "only", "rather", "instead"}:
        return False
    plain = not any(t.word in VERDICT_LIKE or t.word in NEGATORS or t.word in JOINTS for t in part)
    return short and plain and not says_something(part, words)


VERDICT_LIKE = frozenset(
    "true false yes no nope nah yep yeah right wrong correct incorrect t f y n myth agree disagree".split()
)


def _clause(
    typed: Sequence[Token],
    mentions: Sequence[Mention],
    words: Lexicon,
    first: int,
    last: int,
    sentence: int,
) -> Clause:
    part = typed[first : last + 1]
    own = tuple(m for m in mentions if first <= m.first and m.last <= last)
    said = [token.word for token in part]
    stems = [token.stem for token in part]
    return Clause(
        first=first,
        last=last,
        sentence=sentence,
        stems=tuple(stems),
        mentions=own,
        negations=tuple(_negations(typed, own, words, first, last)),
        reported=has(said, REPORTS) or has(stems, REPORTS),
        quoted=all(token.quoted or token.kind == "quote" for token in part),
        says=says_something(part, words),
    )


def _negations(
    typed: Sequence[Token], own: Sequence[Mention], words: Lexicon, first: int, last: int
) -> Iterator[Negation]:
    said = [token.word for token in typed[first : last + 1]]
    for index in range(first, last + 1):
        rest = said[index - first :]
        if any(tuple(rest[: len(phrase)]) == phrase for phrase in CANCELLED):
            continue
        phrase = next((p for p in INSTEAD if tuple(rest[: len(p)]) == p), None)
        if phrase is None and typed[index].word not in NEGATORS:
            continue
        if typed[index].word == "no" and _opens(said, index - first) and _is_verdict_no(typed, index, own):
            continue
        yield _scope(typed, own, words, index, first, last)


INTERJECTIONS = frozenset(
    "oh ah uh um er err eh ehm hmm hm well wait lol nah no actually ok okay so hang on hold ugh anyway but and then man".split()
)


def _opens(said: Sequence[str], at: int) -> bool:
    """Return whether nothing but interjections stands before this word."""
    return INTERJECTIONS.issuperset(said[:at])


def _is_verdict_no(typed: Sequence[Token], index: int, own: Sequence[Mention]) -> bool:
    """Return whether a "no" that opens a clause answers the claim and does not deny a thing."""
    if index + 1 >= len(typed) or typed[index + 1].kind in {"strong", "weak", "quote"}:
        return True
    following = typed[index + 1].word
    return following in {
        "the", "it", "it's", "that", "they", "this", "because", "since", "you", "we", "i", "only", "each", "every", "its", "a", "as", "there", "just", "not", "way", "but", "all", "at", "what", "what", "way", "these", "those", "both", "with", "in", "on", "for", "your", "my", "and", "so", "still", "zero", "lol", "man", "bro", "sir", "actually", "he", "if", "when", "while", "per", "sorry", "pls", "bc",
    } or (index == 0 and following in {"adam", "pytorch", "fsdp", "flash", "lora", "nvidia", "smi", "weights", "experts", "activations", "pipeline", "memory", "micro", "microbatch"} and len(typed) > index + 2)  # fmt: skip


def _scope(
    typed: Sequence[Token],
    own: Sequence[Mention],
    words: Lexicon,
    index: int,
    first: int,
    last: int,
) -> Negation:
    behind = [m for m in own if m.first > index]
    if not behind:
        return Negation(at=index, first=first, last=last)
    if typed[index].word not in DETERMINERS:
        return Negation(at=index, first=index, last=last)
    end = last
    thing = next((m for m in behind if m.sort == "things"), behind[0])
    for place in range(thing.last + 1, last + 1):
        if typed[place].word in PRONOUNS | {"and", "with"}:
            end = place - 1
            break
    return Negation(at=index, first=index, last=end)


def _with_corrections(typed: Sequence[Token], plain: Sequence[Clause]) -> tuple[Clause, ...]:
    """Mark what stands before the last place where the writer takes something back."""
    back = [
        clause.first
        for clause in plain
        if has([token.word for token in typed[clause.first : clause.last + 1]], CORRECTIONS)
        and not _awaits(typed, clause)
    ]
    if not back:
        return tuple(plain)
    return tuple(replace(c, corrected=c.first < back[-1]) for c in plain)


def _awaits(typed: Sequence[Token], clause: Clause) -> bool:
    """Return whether the writer only speaks of waiting: "wait for the first step"."""
    said = [token.word for token in typed[clause.first : clause.last + 1]]
    return has(said, (("wait", "for"), ("wait", "until"), ("wait", "till"), ("to", "wait"), ("hold", "on", "to"))) or (
        "wait" in said[1:] and not _opens(said, said.index("wait"))
    )


def _adds(part: Sequence[Token]) -> bool:
    """Return whether a clause goes on with what was said: "and gradients as well"."""
    return part[0].word in {"and", "also", "plus", "same"} or part[-1].word in {"too", "also", "well"}


def _taken_up(
    typed: Sequence[Token], plain: Sequence[Clause], words: Lexicon
) -> Iterator[Clause]:
    """Yield each clause with what it takes up: things behind "they", a verb left out."""
    before: tuple[Mention, ...] = ()
    for previous, clause in pairwise([None, *plain]):
        if clause is None:
            continue
        part = typed[clause.first : clause.last + 1]
        things = any(m.sort == "things" for m in clause.mentions)
        does = clause.says or any(m.sort == "does" for m in clause.mentions)
        pronoun = any(token.word in PRONOUNS for token in part[:4])
        same = previous is not None and previous.sentence == clause.sentence
        takes = pronoun or (same and not things)
        found = tuple(
            m
            for m in before
            if (m.sort == "things" and takes) or (m.sort == "does" and (same or _adds(part)) and not does)
        )
        yield replace(clause, spoken_of=found)
        kept = tuple(m for m in found if m.sort == "things")
        before = (*clause.mentions, *(kept if not things else ()), *(m for m in found if m.sort == "does"))
