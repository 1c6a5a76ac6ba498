"""What an interviewer is told of an answer: the right one, how near is near, what went wrong."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import MB
from problems.answers.answer import Answer, Number, Unit
from problems.answers.choice import ChoiceAnswer
from problems.answers.numbers import amount, in_gb
from problems.answers.ranking import RankingAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.problem import Problem
from quiz.marking.nearness import BANDS, DOUBLE, DOUBLE_CREDIT

SHARES = {Fraction(1): "full", Fraction(1, 2): "half", Fraction(1, 4): "a quarter"}
THOUSAND = 1000
# Said where nothing but the right answer earns anything.
EXACT = "only this answer counts"
BY_HALVES = "yes or no and its number are half of the mark each: one wrong, half is left"
BY_PAIRS = "full in this order; else the share of the pairs that are in order, a tie for one half"


def right(answer: Answer) -> str:
    """Return the right answer in words, behind its letter where one of a few is picked."""
    if isinstance(answer, ChoiceAnswer):
        return f"{answer.right.item.key}, {answer.said}"
    return answer.said


def accepted(answer: Answer) -> tuple[str, ...]:
    """Return what earns how much, each number of an answer on a line."""
    if answer.parts:
        return tuple(
            f"{name}: {part.said}; {_band(part.number) if part.number else EXACT}"
            for name, part in answer.parts.items()
        )
    if isinstance(answer, RankingAnswer):
        return (BY_PAIRS,)
    bands = (EXACT if answer.number is None else _band(answer.number),)
    return (*bands, BY_HALVES) if isinstance(answer, YesNoAnswer) else bands


def _band(number: Number) -> str:
    if not number.value:
        return EXACT
    rows = [(share, 1 - off, 1 + off) for off, share in BANDS[number.band]]
    if number.band == "estimate":
        rows.append((DOUBLE_CREDIT, 1 / DOUBLE, DOUBLE))
    return ", ".join(
        f"{SHARES[share]} from {short(number.value * low, number)} "
        f"to {short(number.value * high, number)}"
        for share, low, high in rows
    )


def short(value: Fraction, number: Number) -> str:
    """Return a number in the unit of what is asked for: "25.27 GB", "16 bytes"."""
    in_words = number.unit == "bytes" and abs(value) >= MB
    return in_gb(value) if in_words else _plain(value, number.unit)


def _plain(value: Fraction, unit: Unit) -> str:
    """Return a number that is not said in GB, its thousands always set apart."""
    whole = unit == "1" and abs(value) >= THOUSAND
    return f"{round(value):,}" if whole else amount(value, unit)


def wrong_answers(problem: Problem) -> Iterator[tuple[str, str, str]]:
    """Yield wrong answers that are told something: what is said, its mistake, what it means."""
    for mistake in problem.mistakes:
        number = problem.answer.part(mistake.term).number
        said = short(mistake.value, number) if number else _plain(mistake.value, "1")
        names = " or ".join((mistake.name, *mistake.also))
        yield (f"{mistake.term}: {said}" if mistake.term else said), names, mistake.feedback
    if isinstance(problem.answer, ChoiceAnswer):
        for one in problem.answer.choices:
            if one.mistake:
                yield f"{one.item.key}, {one.item.name}", one.mistake, one.feedback
