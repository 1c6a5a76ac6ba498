"""Finds phrases and parts of words in the normalised text."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache, lru_cache

from quiz.answers.units_typed import units
from quiz.answers.words import WORDS, Word


def parts(run: str) -> Iterator[str]:
    """Yield what may begin a run of letters: all, or what x or ish leaves (GBx8, xP, GBish)."""
    yield run
    if run.lower().endswith("ish"):
        yield run[:-3]
    if run[-1] in {"x", "X"}:
        yield run[:-1]
    if run[0] in {"x", "X"}:
        yield run[0]


def phrase_at(plain: str, start: int) -> tuple[Word, int] | None:
    """Return the meaning of the longest phrase that begins at `start`, and the index behind it."""
    match = _phrases().match(plain, start)
    if match is None:
        return None
    return WORDS[" ".join(match.group().lower().split())], match.end()


@cache
def _phrases() -> re.Pattern[str]:
    longest_first = sorted(WORDS, key=len, reverse=True)
    spelled = "|".join(re.escape(p).replace(r"\ ", " +") for p in longest_first)
    return re.compile(rf"(?:{spelled})(?![^\W\d_])", re.IGNORECASE)


@cache
def _spellings() -> tuple[str, ...]:
    kinds = {"scale", "noun", "cardinal", "fraction"}
    words = (w for w, meaning in WORDS.items() if meaning.kind in kinds)
    return tuple(w for w in (*units(), *words) if len(w) > 3)


@lru_cache(maxsize=1024)  # near spellings are looked for among all that there are
def advice(word: str) -> str:
    """Return what to type in place of an unknown `word`, a near spelling where there is one."""
    close = get_close_matches(word.lower(), _spellings(), n=1, cutoff=0.8)
    return f"did you mean {close[0]}?" if close else "type a number with its unit"
