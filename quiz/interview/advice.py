"""What to practise after an interview: what lost most, as commands."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from problems.interview.script import Aspect
from problems.problem import Level
from quiz.interview.scorecard import Reply

# One for each aspect that lost.
MOST = 5
ABOVE: dict[Level, Level] = {"junior": "mid", "mid": "senior"}


def next_steps(level: Level, replies: Sequence[Reply]) -> tuple[tuple[str, str], ...]:
    """Return (command, why), what lost most first; an interview again where little was lost.

    Of every aspect that lost something a kind is there, so that a lost prediction is not hidden
    behind numbers, of which there are more.
    """
    lost: dict[str, list[Reply]] = {}
    for one in replies:
        if one.score is not None and one.score < 1:
            for kind in one.question.practises:
                lost.setdefault(kind, []).append(one)
    ordered = sorted(lost, key=lambda kind: -_loss(lost[kind]))
    chosen = list(dict.fromkeys((*_of_aspects(ordered, lost), *ordered)))[:MOST]
    steps = tuple(
        (f"memquiz practice --kind {kind}", _why(lost[kind]))
        for kind in sorted(chosen, key=ordered.index)
    )
    if steps or not any(one.score is not None for one in replies):
        return steps
    higher = ABOVE.get(level, level)
    return ((f"memquiz interview --level {higher} --new", "nothing was lost in this one"),)


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
    named = worst.verdict.mistake if worst.verdict is not None else None
    score = f"{float(worst.score or 0):.2g} of 1"
    said = f"{worst.question.key.replace('-', ' ')} ({worst.question.aspect}): {score}"
    return f"{said}, {named}" if named else said


def _worst(replies: Sequence[Reply]) -> Reply:
    return min(replies, key=lambda one: one.score if one.score is not None else Fraction(1))
