"""Whether a follow-up was answered out of an earlier line, and what its number then is."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from engine.units import BINARY, DECIMAL, GB
from problems.answers.answer import FULL_CREDIT, Number
from problems.interview.script import Move, Question, Reuse
from quiz.marking.verdict import Verdict

# By the key of an earlier question: what its number is off, and the questions it is made of.
Off = Mapping[str, Fraction]
MadeOf = Mapping[str, frozenset[str]]
NONE: frozenset[str] = frozenset()
# A figure that is so near to an earlier one is that one.
NEAR = Fraction(1, 100)
# So many times nearer than the band a number has to be that follows from some of several alone.
NEARER = 3
UNITS = {
    **{name.lower(): size for name, size in (*DECIMAL, *BINARY)},
    **dict.fromkeys(("b", "byte", "bytes"), 1),
}
FIGURE = re.compile(
    r"(?<![\w.])(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)(?P<power>e\d{1,2})?"
    r"(?:\s*(?P<unit>[kmgt]i?b|bytes?|b)\b)?(?![\w.]*\w*-?bit)",
    re.IGNORECASE,
)
ANSWER_ALONE = re.compile(r"\b(?:yes|yeah|nope|about|around|roughly|approx|approximately)\b")
WORK = re.compile(r"[a-z]{3,}|[*×x/+÷-]")
TIMES = {
    2: ("twice", "double", "doubles", "doubled", "two times"),
    3: ("triple", "triples", "three times"),
    4: ("quadruple", "quadruples", "four times"),
    8: ("eight times",),
    16: ("sixteen times",),
}
SHARES = {
    2: ("half", "halve", "halves", "halved", "a half"),
    3: ("a third",),
    4: ("a quarter", "a fourth", "quarter"),
    8: ("an eighth", "eighth"),
    16: ("a sixteenth",),
    32: ("a thirty-second",),
}
SAME = (
    "same",
    "unchanged",
    "does not change",
    "doesn't change",
    "as before",
    "no change",
    "stays",
)
WAYS = ("linear", "linearly", "quadratic", "quadratically", "proportional", "scales", "squared")


def number_of(verdict: Verdict | None) -> Fraction | None:
    """Return the number that an answer was read as; None where it has none."""
    parsed = None if verdict is None else verdict.parsed
    if isinstance(parsed, dict):
        parsed = parsed.get("number")
    return parsed if isinstance(parsed, Fraction) else None


def choice_of(verdict: Verdict) -> str | None:
    """Return the key of what was picked; None where the answer is no single choice."""
    match verdict.parsed:
        case ((str(key),),):
            return key
        case _:
            return None


def asked_for(question: Question) -> Number | None:
    """Return the number that a question asks for; None where it asks for none."""
    return None if question.problem is None else question.problem.answer.number


def carries(question: Question, verdict: Verdict, off: Off, made_of: MadeOf) -> tuple[str, ...]:
    """Return the wrong earlier numbers from which this one follows; () where from none.

    The right number moves with each earlier one that is off. A candidate may have carried on some
    of them and not others, so that every set of them is tried, the smallest first. What follows
    from as many as can come together has all of the band; fewer may be it by chance, so that the
    number has to lie nearer.

    Args:
        question: the question.
        verdict: what was answered, wrong by itself.
        off: by how much each earlier number was off that was wrong, by the key of its question.
        made_of: the keys of the questions that each of them is made of itself.
    """
    number, asked = number_of(verdict), asked_for(question)
    if number is None or asked is None or not _decides(question, verdict, number):
        return ()
    sets = tuple(_sets(question, off, made_of))
    most = max(map(len, sets), default=0)
    for moves in sets:
        within = FULL_CREDIT[asked.band] / (1 if len(moves) == most else NEARER)
        moved = {one.question: one.times * off[one.question] for one in moves}
        for follows in _following(question, asked, moved):
            if follows > 0 and abs(number - follows) <= within * follows:
                return tuple(moved)
    return ()


def _following(question: Question, asked: Number, moved: Off) -> Iterator[Fraction]:
    """Yield the numbers that follow where earlier ones move it: of a peak two.

    One is the moment that is the highest with right numbers, one that which is it with these.
    """
    if not question.moments:
        yield asked.value + sum(moved.values())
        return
    sizes = [
        one.size + sum((by for key, by in moved.items() if key not in one.without), Fraction(0))
        for one in question.moments
    ]
    yield from {sizes[0], max(sizes)} - {asked.value}


def _sets(question: Question, off: Off, made_of: MadeOf) -> Iterator[tuple[Move, ...]]:
    """Yield the moves that may come together, the fewest first.

    Each earlier question is in it once, and none of which another one in it is made: what it is
    off is in that one already.
    """
    moves = tuple(dict.fromkeys(one for one in moves_of(question) if one.question in off))
    for size in range(1, len(off) + 1):
        for some in combinations(moves, size):
            keys = {one.question for one in some}
            if len(keys) == size and not any(keys & made_of.get(key, NONE) for key in keys):
                yield some


def moves_of(question: Question) -> tuple[Move, ...]:
    """Return how a number moves with earlier ones, by its ways from them and by its moves."""
    ways = (Move(question=one.question, times=one.times) for one in question.reuses)
    return (*ways, *question.moves)


def _decides(question: Question, verdict: Verdict, number: Fraction) -> bool:
    """Say whether a yes or no, where one was asked for too, is that of its own number."""
    parsed = verdict.parsed
    if not isinstance(parsed, dict) or "yes" not in parsed:
        return True
    return bool(parsed["yes"]) == (number <= question.scenario.hardware.gpu.memory)


def shows(lines: Sequence[str], values: Sequence[Fraction], reuse: Reuse) -> bool:
    """Return whether an earlier figure, one of `values`, or the way from it stands in `lines`."""
    return shows_one_of(lines, values) or any(_says(line.lower(), reuse) for line in lines)


def shows_one_of(lines: Sequence[str], values: Sequence[Fraction]) -> bool:
    """Return whether one of `values` stands in a line that calculates with it."""
    figures = [figure for line in lines if _works(line) for figure in _figures(line)]
    return any(abs(one - value) <= NEAR * abs(value) for value in values for one in figures)


def _works(line: str) -> bool:
    """Say whether a line does more than give a number: it calculates, or says what a figure is."""
    return bool(WORK.search(ANSWER_ALONE.sub(" ", FIGURE.sub(" ", line.lower()))))


def _figures(line: str) -> Iterator[Fraction]:
    """Yield each figure of a line in bytes, and bare ones in GB and as they stand."""
    for match in FIGURE.finditer(line):
        number = Fraction(match["digits"].replace(",", "") + (match["power"] or ""))
        if match["unit"]:
            yield number * UNITS[match["unit"].lower()]
        else:
            yield number
            yield number * GB


def _says(line: str, reuse: Reuse) -> bool:
    words = [word for word in WAYS if word in reuse.says.lower()]
    if reuse.times == 1:
        words += SAME
    words += TIMES.get(int(reuse.times), ()) if reuse.times.denominator == 1 else ()
    words += SHARES.get(reuse.times.denominator, ()) if reuse.times.numerator == 1 else ()
    if any(re.search(rf"\b{re.escape(word)}\b", line) for word in words):
        return True
    return reuse.times != 1 and any(re.search(way, line) for way in _factors(reuse.times))


def _factors(times: Fraction) -> Iterator[str]:
    """Yield patterns of a factor as it is typed: "4x", "× 4", "4 times", "/ 8", "3.75/16"."""
    over, under = times.numerator, times.denominator
    if under == 1:
        yield rf"(?<![\w.]){over}\s*(?:x|×|\*|times\b)"
        yield rf"(?:\bx|×|\*|times|by|factor(?: of)?)\s*{over}(?![\w.])"
    elif over == 1:
        yield rf"(?:/|÷|over|divided by|by)\s*{under}(?![\w.])"
        yield rf"(?<![\w.])1\s*/\s*{under}(?![\w.])"
    else:
        yield rf"(?<![\w.]){over}\s*/\s*{under}(?![\w.])"
        yield rf"(?:x|×|\*|times|by)\s*0?{re.escape(f'{float(times):.3g}'.lstrip('0'))}"
