"""Numbers in a reason, held to the ledger of the run that a claim was put about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations

from engine.units import BINARY, DECIMAL, decimal
from problems.answers.claim import RunFacts

# How far a number may be off: one of bytes a parameter, and a size.
EACH_WITHIN, SIZE_WITHIN = Fraction(2, 100), Fraction(15, 100)
FACTORS = {name.lower(): factor for name, factor in (*DECIMAL, *BINARY)}
NUMBER = r"(?<![\w.,])(\d{1,6}(?:[.,]\d{1,4})?)"
SIZE = re.compile(rf"{NUMBER}\s?([kmgt]i?b)\b(?!\s*/\s*s)", re.IGNORECASE)
# A lone B behind a number is a billion: only before a parameter is it a byte.
EACH = re.compile(
    rf"{NUMBER}\s?(?:bytes?\b(?!\s*/\s*s)|b(?=\s*(?:/|per\b|a\b|each\b|every\b)\s*param))"
    r"(?:\s*(?:/|per\b|a\b|each\b|every\b)\s*param\w*)?",
    re.IGNORECASE,
)
# A sum is arithmetic; what stands in it is no statement of its own.
IN_A_SUM = re.compile(r"[+*/×x=]\s*$")
BEFORE_A_SUM = re.compile(r"^\s*(?:[+*×]|x\b)")
# What has bytes of its own, which are none of a parameter.
OTHER = re.compile(r"logit|token|\bentr(?:y|ies)\b|activation|score|layer|vocab", re.IGNORECASE)
# When it is, and no thing that has the size.
MOMENT = re.compile(r"\b(?:at|of|in|during|a|an)\s+(?:the\s+|its\s+|[\d.,]+\s*[kmgt]i?b\s+)*peak")
OF_PEAK = re.compile(r"\s*peak", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:()\n]|\.\s|\band\b|\bbut\b|\bplus\b", re.IGNORECASE)
PART = re.compile(
    r"weight|grad|master|copy|moment|adam|variance|state|activation|"
    r"logit|fp32|fp16|bf16|float|\bm\b|\bv\b|element|half|tensor",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class WrongNumber:
    """A number that the run does not have.

    Args:
        start: index of its first character.
        end: index behind its unit.
        says: what the run has instead, in a sentence.
    """

    start: int
    end: int
    says: str


def wrong_number(text: str, run: RunFacts) -> WrongNumber | None:
    """Return the first number of `text` that `run` does not have; None where all agree.

    A size is one of the ledger's within 15%. Bytes a parameter are the whole, or on one GPU, or,
    where a state is named beside them, one of the states or a sum of some.
    """
    found = [*_each(text, run), *_sizes(text, run)]
    return min(found, key=lambda one: one.start, default=None)


def _sizes(text: str, run: RunFacts) -> Iterator[WrongNumber]:
    for match in SIZE.finditer(text):
        if _in_a_sum(text, match.start(), match.end()):
            continue
        value = _value(match[1]) * FACTORS[match[2].lower()]
        is_peak = OF_PEAK.match(text, match.end()) and run.named.get("peak")
        known = is_peak or _meant(_around(text, match), run)
        if not any(abs(value - size) <= SIZE_WITHIN * size for size in known):
            nearest = min(known, key=lambda size: abs(size - value))
            says = f"{match[0]} is no size of this run; the nearest is {decimal(nearest)}."
            yield WrongNumber(start=match.start(), end=match.end(), says=says)


def _meant(clause: str, run: RunFacts) -> tuple[int, ...]:
    """Return the sizes that a clause may speak of: of the one thing that it names, or all.

    Of several things that it names each may be meant.
    """
    things = MOMENT.sub("", clause.lower())
    said = [sizes for word, sizes in run.named.items() if sizes and word in things]
    return said[0] if len(said) == 1 else (*run.sizes, *chain.from_iterable(said))


def _each(text: str, run: RunFacts) -> Iterator[WrongNumber]:
    sums = {
        Fraction(sum(some))
        for many in range(1, len(_widths(run)) + 1)
        for some in combinations(_widths(run), many)
    }
    whole = {run.each, run.shared}
    for match in EACH.finditer(text):
        around = _around(text, match)
        of_other = OTHER.search(around) and "param" not in match[0].lower()
        if of_other or _in_a_sum(text, match.start(), match.end()):
            continue
        known = whole | sums if PART.search(around) else whole
        value = _value(match[1])
        if not any(abs(value - each) <= EACH_WITHIN * each for each in known):
            says = f"{match[0]} is not what a parameter takes here: {_bytes(run)}."
            yield WrongNumber(start=match.start(), end=match.end(), says=says)


def _bytes(run: RunFacts) -> str:
    """Return what a parameter takes, on one GPU too where states are sharded."""
    whole = f"{' + '.join(map(str, run.parts))} = {float(run.each):g}"
    return whole if run.shared == run.each else f"{whole}, {float(run.shared):.3g} on one GPU"


def _widths(run: RunFacts) -> tuple[int, ...]:
    """Return the bytes of each state, two moments apart."""
    split = ((part // 2, part // 2) if part == 8 else (part,) for part in run.parts)
    return tuple(each for parts in split for each in parts)


def _around(text: str, match: re.Match[str]) -> str:
    """Return the clause that a number stands in, without the word for a parameter behind it."""
    ends = [one.end() for one in CLAUSE.finditer(text, 0, match.start())]
    following = CLAUSE.search(text, match.end())
    start, end = (ends or [0])[-1], following.start() if following else len(text)
    return text[start : match.start()] + text[match.end() : end]


def _in_a_sum(text: str, start: int, end: int) -> bool:
    return bool(IN_A_SUM.search(text[:start]) or BEFORE_A_SUM.search(text[end:]))


def _value(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "."))
