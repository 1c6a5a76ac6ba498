"""Marking: a typed line against a problem's answer. Knows of no terminal and of no session."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from engine.units import KB, KIB
from problems.choice import ChoiceAnswer
from problems.problem import (
    Answer,
    ClaimAnswer,
    CountAnswer,
    FactorAnswer,
    Problem,
    QuantityAnswer,
    YesNoAnswer,
)
from problems.ranking import RankingAnswer
from quiz.answers import Quantity, Unreadable, describe, parse_quantity, read_seconds
from quiz.answers.normal import LONGEST
from quiz.answers.ranking_text import LONGEST_ORDER
from quiz.answers.yes_no import YesNo, read_yes_no
from quiz.claims.grade import ClaimVerdict, grade_claim
from quiz.claims.text import LONGEST_REASON
from quiz.marking.assess import assess
from quiz.marking.choosing import grade_choice
from quiz.marking.claiming import grade_reason
from quiz.marking.diagnosis import diagnose, several
from quiz.marking.nearness import credit, nearest
from quiz.marking.ranking import grade_ranking
from quiz.marking.reference import counted, reference
from quiz.marking.verdict import Verdict, mark_of, opening

__all__ = [
    "ClaimVerdict",
    "Unreadable",
    "Verdict",
    "diagnose",
    "grade",
    "grade_claim",
    "lacks_number",
    "skipped",
]

# As much as a terminal takes in one line.
HALF = Fraction(1, 2)
EXAMPLES = {"bytes": "61 GB", "s": "1.5 s", "1": "250"}


def grade(problem: Problem, text: str) -> Verdict | Unreadable:
    """Mark `text`, or say where and why it cannot be read."""
    longest = _longest(problem.answer)
    if len(text) > longest:
        return Unreadable(offset=longest, reason=f"type at most {longest} characters")
    match problem.answer:
        case QuantityAnswer() as answer:
            return _quantity(problem, answer, text)
        case CountAnswer() as answer:
            return _count(problem, answer, text)
        case FactorAnswer() as answer:
            return _factor(problem, answer, text)
        case YesNoAnswer() as answer:
            return _yes_no(problem, answer, text)
        case RankingAnswer() | ChoiceAnswer() | ClaimAnswer() as answer:
            return _in_words(problem, answer, text)
        case _:
            assert_never(problem.answer)


def _longest(answer: Answer) -> int:
    if isinstance(answer, ClaimAnswer):
        return LONGEST_REASON
    return LONGEST_ORDER if isinstance(answer, RankingAnswer | ChoiceAnswer) else LONGEST


def lacks_number(verdict: Verdict) -> bool:
    """Return whether a yes or no was typed without the number that proves it."""
    return verdict.said is not None and verdict.parsed is None


def skipped(problem: Problem, *, shown: bool) -> Verdict:
    """Return the verdict of a question passed over, or whose solution was asked for instead."""
    return Verdict(
        problem=problem.id,
        answer="",
        score=Fraction(0),
        verdict="shown" if shown else "skipped",
        feedback=f"{'The answer' if shown else 'Skipped'}: {reference(problem.answer)}.",
    )


def _quantity(problem: Problem, answer: QuantityAnswer, text: str) -> Verdict | Unreadable:
    quantity = _read(answer, text)
    if isinstance(quantity, Unreadable):
        return quantity
    marked = assess(quantity, answer, problem)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=quantity.value,
        score=marked.score,
        verdict=mark_of(marked.score),
        mistake=marked.mistake,
        held=marked.held,
        feedback=" ".join([f"{opening(marked.score)}{reference(problem.answer)}.", *marked.says]),
        reading=describe(quantity),
        remarks=quantity.remarks,
    )


def _in_words(
    problem: Problem, answer: RankingAnswer | ChoiceAnswer | ClaimAnswer, text: str
) -> Verdict | Unreadable:
    match answer:
        case ChoiceAnswer():
            return grade_choice(problem, answer, text)
        case ClaimAnswer():
            return grade_reason(problem, answer, text)
        case RankingAnswer():
            return grade_ranking(problem, answer, text)


def _count(problem: Problem, answer: CountAnswer, text: str) -> Verdict | Unreadable:
    start = _behind(answer.before, text)
    asks = f"number of {answer.noun}" if answer.noun else "number"
    quantity = parse_quantity(text[start:], default_unit="1", asks=asks)
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + start)
    if answer.noun == "tokens" and re.fullmatch(r"\s*\d+\s*k\b.*", text, re.IGNORECASE):
        quantity = _in_binary(quantity)
    if quantity.low != quantity.high:
        return Unreadable(offset=0, reason="type one whole number, not a range")
    if quantity.value.denominator != 1:
        of = f" of {answer.noun}" if answer.noun else ""
        return Unreadable(offset=0, reason=f"type a whole number{of}")
    right = quantity.value == answer.value
    mistake = None if right else nearest(quantity.value, problem.mistakes)
    score = Fraction(1) if right else mistake.share if mistake else Fraction(0)
    named = None if mistake is None or mistake.also else mistake
    says = [named.feedback] if named else [*_of_side(quantity.value, answer), *several(mistake)]
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=quantity.value,
        score=score,
        verdict=mark_of(score),
        mistake=named.name if named else None,
        feedback=" ".join([f"{opening(score)}{reference(problem.answer)}.", *says]),
        reading=_counted_said(quantity, answer),
        remarks=quantity.remarks,
    )


def _in_binary(quantity: Quantity) -> Quantity:
    """Return a number of tokens whose k is 1,024, as lengths of contexts are said."""
    value = quantity.value * KIB / KB
    remarks = (*quantity.remarks, "read k as 1,024, as contexts are said")
    return replace(quantity, value=value, low=value, high=value, remarks=remarks)


def _behind(before: str, text: str) -> int:
    """Return where the number begins in "ZeRO-2", "zero 2", "stage 2" and "2"."""
    word = re.match(r"\w*", before)
    if not word or not word[0]:
        return 0
    typed = re.match(rf"\s*(?:(?:{word[0]}|stage|{word[0][0]}(?=\d))[\s-]*)+", text, re.IGNORECASE)
    return typed.end() if typed else 0


def _counted_said(quantity: Quantity, answer: CountAnswer) -> str:
    number = f"{answer.before}{describe(quantity)}"
    return f"{number} {counted(quantity.value, answer.noun)}".rstrip()


def _of_side(number: Fraction, answer: CountAnswer) -> list[str]:
    if number == answer.value:
        return []
    return [f"Yours is too {'high' if number > answer.value else 'low'}."]


def _factor(problem: Problem, answer: FactorAnswer, text: str) -> Verdict | Unreadable:
    plain = QuantityAnswer(value=answer.value, unit="1", default_unit=None)
    marked = _quantity(problem, plain, text)
    if isinstance(marked, Unreadable) or marked.parsed is None or marked.score or marked.mistake:
        return marked
    if not credit(marked.parsed * answer.value, Fraction(1), "count"):
        return marked
    says = "This is the factor upside down: one over it is right."
    return replace(marked, mistake="upside down", feedback=f"{marked.feedback} {says}")


def _yes_no(problem: Problem, answer: YesNoAnswer, text: str) -> Verdict | Unreadable:
    typed = read_yes_no(text, EXAMPLES[answer.proof.unit])
    if isinstance(typed, Unreadable):
        return typed
    right = HALF if typed.yes == answer.value else Fraction(0)
    if not typed.rest.strip():
        return _verdict_alone(problem, answer, text, typed)
    quantity = _read(answer.proof, typed.rest)
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + typed.offset)
    marked = assess(quantity, answer.proof, problem)
    score = right + marked.score / 2
    wrong = () if right else (f"It is {_word(yes=answer.value)}.",)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=quantity.value,
        said=typed.yes,
        score=score,
        verdict=mark_of(score),
        mistake=marked.mistake,
        held=marked.held,
        feedback=" ".join([f"{opening(score)}{reference(problem.answer)}.", *wrong, *marked.says]),
        reading=f"{_word(yes=typed.yes)}, {describe(quantity)}",
        remarks=quantity.remarks,
    )


def _verdict_alone(problem: Problem, answer: YesNoAnswer, text: str, typed: YesNo) -> Verdict:
    score = HALF if typed.yes == answer.value else Fraction(0)
    return Verdict(
        problem=problem.id,
        answer=text,
        said=typed.yes,
        score=score,
        verdict=mark_of(score),
        feedback=f"{opening(score)}{reference(problem.answer)}. The number is the other half.",
        reading=f"{_word(yes=typed.yes)}, without a number",
    )


def _read(answer: QuantityAnswer, text: str) -> Quantity | Unreadable:
    if answer.unit == "s":
        return read_seconds(text)
    asks = "memory, in bytes" if answer.unit == "bytes" else "a number"
    if answer.default_unit in {"B", "bytes"}:
        asks = "bytes per parameter"
    unit = answer.default_unit or "1"
    return parse_quantity(text, default_unit=unit, symbols=answer.symbols, asks=asks)


def _word(*, yes: bool) -> str:
    return "yes" if yes else "no"
