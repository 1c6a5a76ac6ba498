"""What to practise after an interview: what lost most, as commands."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from problems.interview.script import Aspect
from problems.problem import Level
from problems.registry import kinds
from quiz.interview.scorecard import Reply

# One for each aspect that lost.
MOST = 5
# Lines that one question may have.
MOST_OF_ONE = 2
ABOVE: dict[Level, Level] = {"junior": "mid", "mid": "senior"}
UPTO: Mapping[Level, frozenset[Level]] = {
    "junior": frozenset({"junior"}),
    "mid": frozenset({"junior", "mid"}),
    "senior": frozenset({"junior", "mid", "senior"}),
}


def next_steps(level: Level, replies: Sequence[Reply]) -> tuple[tuple[str, str], ...]:
    """Return (command, why); an interview again where nothing was lost.

    What a mistake was named in comes first, then what lost most.

    Of every aspect that lost something a kind is there, so that a lost prediction is not hidden
    behind numbers, of which there are more. One question has two lines at most.
    """
    lost: dict[str, list[Reply]] = {}
    for one in replies:
        if one.score is not None and one.score < 1:
            for kind in _posed(level, one.question.practises):
                lost.setdefault(kind, []).append(one)
    ordered = sorted(
        lost, key=lambda kind: (_mistake(_worst(lost[kind])) is None, -_loss(lost[kind]))
    )
    chosen = _chosen(dict.fromkeys((*_of_aspects(ordered, lost), *ordered)), lost)
    steps = tuple(
        (f"memquiz practice --kind {kind}", _why(lost[kind]))
        for kind in sorted(chosen, key=ordered.index)
    )
    if steps or not any(one.score is not None for one in replies):
        return steps
    higher = ABOVE.get(level, level)
    return ((f"memquiz interview --level {higher} --new", "nothing was lost in this one"),)


def _posed(level: Level, names: Sequence[str]) -> Sequence[str]:
    """Return the kinds that are posed at a level or below; all where there are none."""
    known = kinds()
    return [name for name in names if UPTO[level] & set(known[name].levels)] or names


def _chosen(wanted: Mapping[str, None], lost: Mapping[str, Sequence[Reply]]) -> Sequence[str]:
    """Return the first of the kinds, of which no question has more lines than it may."""
    lines, chosen = Counter[str](), list[str]()
    for kind in wanted:
        key = _worst(lost[kind]).question.key
        if lines[key] < MOST_OF_ONE:
            lines[key] += 1
            chosen.append(kind)
    return chosen[:MOST]


def _of_aspects(ordered: Sequence[str], lost: Mapping[str, Sequence[Reply]]) -> Iterator[str]:
    """Yield the kind that lost most in each aspect, and no kind for two of them."""
    taken: set[Aspect] = set()
    for kind in ordered:
        aspect = _worst(lost[kind]).question.aspect
        if aspect not in taken:
            taken.add(aspect)
            yield kind


def _loss(replies: Sequence[Reply]) -> Fraction:
    return sum((1 - one.score for one in replies if one.score is not None), Fraction(0))


def _why(replies: Sequence[Reply]) -> str:
    """Return what was lost: the worst question, and the mistake in it where one was named."""
    worst = _worst(replies)
    named = _mistake(worst)
    score = f"{float(worst.score or 0):.2g} of 1"
    said = f"{worst.question.key.replace('-', ' ')} ({worst.question.aspect}): {score}"
    return f"{said}, {named}" if named else said


def _mistake(reply: Reply) -> str | None:
    return reply.verdict.mistake if reply.verdict is not None else None


def _worst(replies: Sequence[Reply]) -> Reply:
    """Return the reply that lost most, of those with a named mistake where there are any."""
    return min(replies, key=lambda one: (_mistake(one) is None, one.score or Fraction(0)))
