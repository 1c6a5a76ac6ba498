"""Rows of keywords, which assert nothing."""

from collections.abc import Sequence

from quiz.claims.lexicon import Lexicon
from quiz.claims.speech import speech
from quiz.claims.text import Token

# A row of two numbers or more is a sum or a comparison.
MANY_NUMBERS = 2
SHORTEST_VERB = 4
JOINING = ("function", "pronouns", "negators", "joints")


def is_salad(typed: Sequence[Token], words: Lexicon) -> bool:
    """Return whether no word joins the others and no verb is inflected."""
    numbers = sum(token.kind == "number" for token in typed)
    joining = frozenset[str]().union(*(speech().words[name] for name in JOINING))
    return numbers < MANY_NUMBERS and not any(
        token.word in joining
        or (token.kind == "sign" and token.word not in {"-", "/", "%"})
        or _is_inflected(token, words)
        for token in typed
    )


def _is_inflected(token: Token, words: Lexicon) -> bool:
    verbs = words.verbs - speech().words["naming"]
    long = len(token.word) >= SHORTEST_VERB
    return long and token.stem in verbs and token.word.endswith(("s", "ed", "ing"))
