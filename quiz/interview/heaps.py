"""Heaps: lines that say nothing of what they name, as many names as may be."""

from itertools import groupby

from quiz.interview.clauses import BREAKS, typed_words
from quiz.interview.cues import CONNECTING, VERBS, stems_of

# A list of causes may be as long as this, and says nothing of any either.
LONGEST_LIST = 6
VERB_ENDINGS = ("ed", "ing")


def is_heap(line: str) -> bool:
    """Return whether a line is a heap of names: no verb, nothing that connects them."""
    said = [token for token in typed_words(line) if token.kind != "quote"]
    words = [token for token in said if token.kind in {"word", "number"}]
    verbs = {stems[0] for stems in stems_of(VERBS)}
    if any(token.word in CONNECTING or token.stem in verbs for token in words):
        return False
    if any(token.kind == "sign" or token.word.endswith(VERB_ENDINGS) for token in said):
        return False
    names = [
        list(part) for ends, part in groupby(said, lambda one: one.kind in BREAKS) if not ends
    ]
    return (len(words) if len(names) == 1 else len(names)) > LONGEST_LIST
