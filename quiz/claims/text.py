"""A typed answer as words, each with the place where it was typed and the stem it is known by."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from quiz.answers.normal import SAME, Text, look_alike
from quiz.answers.quantity import RefusalError
from quiz.claims.stems import stem

LONGEST_REASON = 1000
# What stands where bytes were no text.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Signs that the words of numbers need otherwise.
SIGNS = {"✕": "*", "·": "*", "≈": "~", "—": ";", "≥": ">", "≤": "<", "²": "^2"}
# Accents typed as characters of their own, and what chooses the colour of an emoji.
UNSEEN_BUT_HARMLESS = re.compile(r"[\u0300-\u036f\ufe0e\ufe0f]")

TOKEN = re.compile(
    r"(?P<abbreviation>\b(?:e\.g|i\.e|etc|vs|approx)\b\.?)"
    r"|(?P<word>\b1f-?1b\b|\bw/o?(?=\s|$)|\bb/c\b|[^\W\d_][^\W_]*(?:'[^\W\d_]+)?)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<strong>\.{2,}|\.(?=\W|$)|[!?;#\n]|\s-{1,2}\s|--)"
    r"|(?P<weak>[,:()\[\]{}|])"
    r"|(?P<quote>\")"
    r"|(?P<sign>->|=>|==|!=|>=|<=|[-+*/=<>~%^])"
)
# What stands between the parts of one name or call, and breaks nothing: micro-batch, step(); but
# 1F-1B is one word.
JOINING = re.compile(r"(?<=\w)-(?=[^\W\d_])|(?<=[^\W\d_])(?<!\b1f)-(?=\d)|(?<=\w)\(|(?<=\()\)")
SINGLE_QUOTED = re.compile(r"(?:^|(?<=[\s(]))'([^'\n]{2,}?)'(?=[\s.,;:!?)]|$)")

SUFFIXES = {"s": "is", "re": "are", "ll": "will", "ve": "have", "d": "would", "m": "am"}
# A word with "'s" behind it has "is" behind one of these, and belongs to something else.
PRONOUNS = frozenset(
    ["it", "that", "this", "there", "he", "she", "what", "who", "where", "here", "one"]
)
CONTRACTIONS = Path(__file__).parents[1] / "data" / "contractions.toml"

# Words that a stammer may have, the longest first; who says "no, no" does not stammer.
STAMMER = (4, 3, 2, 1)
ANSWERS = frozenset({"yes", "no", "nah", "wait", "true", "false", "wrong", "right"})

Kind = Literal["word", "number", "sign", "strong", "weak", "quote"]


@dataclass(frozen=True, kw_only=True)
class Token:
    """A word, number, sign or break.

    Args:
        kind: "strong" and "weak" are breaks: between sentences, and within one.
        word: in small letters; a contraction gives two tokens, "does" and "not".
        stem: what its forms share: "shard" for sharded, shards and sharding.
        start: index of its first character in the text as typed.
        end: index behind its last one.
        quoted: it stands in a quotation of two words or more.
    """

    kind: Kind
    word: str
    stem: str
    start: int
    end: int
    quoted: bool = False


def tokens(typed: str) -> tuple[Token, ...]:
    """Return the tokens of `typed`, breaks among them.

    Raises:
        RefusalError: it is too long, or has a character that cannot be seen.
    """
    text = _plain(typed)
    quoted = _quoted(text.plain)
    joined = JOINING.sub(" ", text.plain)
    found = (
        Token(
            kind=kind,
            word=word,
            stem=stem(word) if kind == "word" else word,
            start=text.where[match.start()],
            end=text.where[match.end() - 1] + 1,
            quoted=any(start < match.start() < end for start, end in quoted),
        )
        for match in TOKEN.finditer(joined)
        for kind, word in _read(match)
    )
    return tuple(_once(list(found)))


def _once(found: Sequence[Token]) -> Iterator[Token]:
    """Yield what was said but for a stammer: "it's, it's" and "you have, you have" stand once."""
    at = 0
    while at < len(found):
        said = next((size for size in STAMMER if _is_stammer(found, at, size)), None)
        if said is None:
            yield found[at]
        at += 1 if said is None else said + 1


def _is_stammer(found: Sequence[Token], at: int, size: int) -> bool:
    """Return whether so many words stand here, a comma, and the same words again."""
    first, second = found[at : at + size], found[at + size + 1 : at + 2 * size + 1]
    between = found[at + size : at + size + 1]
    words = [token.word for token in first]
    plain = all(token.kind == "word" and token.word not in ANSWERS for token in first)
    comma = bool(between) and between[0].word in {",", "..."}
    return plain and comma and words == [token.word for token in second]


def _plain(typed: str) -> Text:
    if len(typed) > LONGEST_REASON:
        what = f"this is too long; give the reason in {LONGEST_REASON} characters"
        raise RefusalError(LONGEST_REASON, what)
    plain: list[str] = []
    where: list[int] = []
    for index, character in enumerate(typed):
        seen = _seen(index, character)
        plain.extend(seen)
        where.extend([index] * len(seen))
    return Text("".join(plain), (*where, len(typed)))


def _seen(index: int, character: str) -> str:
    if character in "\r\n\t":
        return "\n" if character == "\n" else " "
    if UNSEEN_BUT_HARMLESS.match(character):
        return ""
    if character == REPLACEMENT:
        raise RefusalError(index, "a byte here is no text; type the answer again")
    small = character.lower()
    one = small if len(small) == 1 else character
    sign = SIGNS.get(one)
    if sign is not None:
        return sign
    if one in "→⇒":
        return "->"
    seen = SAME.get(one) or look_alike(index, one)
    return SIGNS.get(seen, seen)


def _quoted(plain: str) -> tuple[tuple[int, int], ...]:
    """Return the places of quotations that have two words or more."""
    places = [match.span() for match in re.finditer(r'"[^"\n]+"', plain)]
    places += [match.span() for match in SINGLE_QUOTED.finditer(plain)]
    return tuple(place for place in places if " " in plain[slice(*place)].strip("\"' "))


def _read(match: re.Match[str]) -> Iterator[tuple[Kind, str]]:
    typed = match.group()
    match match.lastgroup:
        case "abbreviation":
            yield "word", typed.replace(".", "")
        case "word":
            for word in _words(typed):
                yield "word", word
        case "number":
            yield "number", typed.replace(",", "")
        case "strong":
            yield "strong", typed.strip()
        case "weak":
            yield "weak", typed
        case "quote":
            yield "quote", typed
        case _:
            yield "sign", typed


def _words(typed: str) -> tuple[str, ...]:
    denied, written = _contractions()
    if typed in written:
        return tuple(written[typed].split())
    if typed in denied:
        return denied[typed], "not"
    if typed.endswith("n't"):
        return typed.removesuffix("n't"), "not"
    head, apostrophe, tail = typed.partition("'")
    if apostrophe and tail == "s":
        return (head, "is") if head in PRONOUNS else (head,)
    if apostrophe and tail in SUFFIXES:
        return head, SUFFIXES[tail]
    return (head + tail,)


@cache
def _contractions() -> tuple[Mapping[str, str], Mapping[str, str]]:
    table = tomllib.loads(CONTRACTIONS.read_text(encoding="utf-8"))
    return table["denied"], table["written"]
