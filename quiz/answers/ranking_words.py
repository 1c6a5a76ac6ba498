"""The signs and words between the items of a typed order."""

import re
from collections.abc import Mapping
from typing import Literal

Kind = Literal[
    "order",  # the one before it comes first
    "list",  # a comma and its like: an order too, where nothing says otherwise; `said` names it
    "tie",  # the two tie
    "first",  # "first", beside the item that begins
    "last",  # "finally", beside the item that ends
    "skip",  # says nothing about the order
    "refuse",  # has two meanings, `said` asks which
]

FROM_FIRST = "type them from first to last, with > between"
WHICH_WAY = f"this sign may mean smaller or before; {FROM_FIRST}"
EITHER = "this may be an order or a tie; type > or ="

# The first pattern that matches counts.
SIGNS: tuple[tuple[str, Kind, str], ...] = (
    (r">+=+|≥", "refuse", EITHER),
    (r"<+[-=]*>*|≤|=<", "refuse", WHICH_WAY),
    (r"/+|\+", "refuse", EITHER),
    (r"!=|≠", "refuse", EITHER),
    (r"(?:[-—|]+|=+)?>+", "order", ""),
    (r"~?=+~?|[~≈]+", "tie", ""),
    (r",", "list", "comma"),
    (r";", "list", "semicolon"),
    (r"&+", "list", "&"),
    (r"[-—]+", "list", "hyphen"),
    (r"\|+", "list", "bar"),
    (r"[.:*·!?\"'#`]+", "skip", ""),
)

ORDER_WORDS = (
    "then", "and then", "before", "comes before", "followed by", "next", "and next", "after that",
    "afterwards", "ahead of", "better than", "beats",
)  # fmt: skip
TIE_WORDS = (
    "same as", "the same as", "is the same as", "equal to", "is equal to", "equals", "equal",
    "tie", "ties", "ties with", "tied with", "tie with", "level with", "as good as", "or", "eq",
)  # fmt: skip
FIRST_WORDS = ("first", "firstly", "first of all", "start with", "begin with", "first comes")
LAST_WORDS = ("last", "lastly", "finally", "and finally", "and last", "at last", "last of all")
SKIPPED = (
    "i think", "i guess", "i believe", "i would say", "i'd say", "i'd go with", "i would", "i'd",
    "maybe", "probably", "perhaps", "my order", "my order is", "the order is", "order",
    "my answer", "my answer is", "answer", "ranking", "my ranking", "rank", "use", "try",
    "item", "items", "option", "options", "number", "numbers", "no.", "lever", "levers", "choice",
    "comes", "is", "the", "it is", "it's",
)  # fmt: skip
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("after", "behind", "comes after", "worse than"), FROM_FIRST),
    **dict.fromkeys(("less than", "more than", "cheaper than", "over", "under"), FROM_FIRST),
    **dict.fromkeys(
        ("idk", "no idea", "not sure", "dunno", "don't know", "i don't know"),
        "type the order that you would guess",
    ),
    **dict.fromkeys(("and so on", "etc", "the rest", "all", "none"), "type each of them once"),
}
WORDS: Mapping[str, tuple[Kind, str]] = {
    "and": ("list", "word and"),
    **dict.fromkeys(ORDER_WORDS, ("order", "")),
    **dict.fromkeys(TIE_WORDS, ("tie", "")),
    **dict.fromkeys(FIRST_WORDS, ("first", "")),
    **dict.fromkeys(LAST_WORDS, ("last", "")),
    **dict.fromkeys(SKIPPED, ("skip", "")),
    **{words: ("refuse", reason) for words, reason in REFUSED.items()},
}

NUMERALS: Mapping[str, str] = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip


def word_at(plain: str, at: int) -> tuple[Kind, str, int] | None:
    """Return the meaning of the longest phrase that stands at `at`, and where it ends."""
    match = _PHRASE.match(plain, at)
    if match is None:
        return None
    kind, said = WORDS[re.sub(r"\s+", " ", match.group())]
    return kind, said, match.end()


def sign_at(plain: str, at: int) -> tuple[Kind, str, int] | None:
    """Return the meaning of the sign that stands at `at`, and where it ends."""
    match = _SIGN.match(plain, at)
    if match is None or match.lastindex is None:
        return None
    _, kind, said = SIGNS[match.lastindex - 1]
    return kind, said, match.end()


_SIGN = re.compile("|".join(f"({pattern})" for pattern, _, _ in SIGNS))
_PHRASE = re.compile(
    "(?:{})(?![^\\W_])".format(
        "|".join(
            re.escape(words).replace(r"\ ", r"\ +")
            for words in sorted(WORDS, key=len, reverse=True)
        )
    )
)
