"""A whole number of things: right or wrong, with the mistake that gives a wrong one."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.units import KB, KIB
from problems.answers.count import CountAnswer
from problems.answers.numbers import counted
from problems.mistakes import share_of
from problems.problem import Problem
from quiz.answers import Quantity, Unreadable, describe, parse_quantity
from quiz.marking.diagnosis import several
from quiz.marking.marker import Marker
from quiz.marking.nearness import nearest
from quiz.marking.verdict import Verdict, mark_of, opening


def _mark(problem: Problem, answer: CountAnswer, text: str) -> Verdict | Unreadable:
    quantity = _read(answer, text)
    if isinstance(quantity, Unreadable):
        return quantity
    right = quantity.value == answer.value
    never = _never(answer, quantity.value)
    mistake = None if right or never else nearest(quantity.value, problem.mistakes)
    score = Fraction(1) if right else share_of(mistake) if mistake else Fraction(0)
    named = None if mistake is None or mistake.also else mistake
    says = [named.feedback] if named else [*_of_side(quantity.value, answer), *several(mistake)]
    says = [never + "."] if never else says
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=quantity.value,
        score=score,
        verdict=mark_of(score),
        mistake=named.name if named else None,
        feedback=" ".join([f"{opening(score)}{answer.said}.", *says]),
        reading=_reading(quantity, answer),
        remarks=quantity.remarks,
    )


def _read(answer: CountAnswer, text: str) -> Quantity | Unreadable:
    start = _behind(answer.before, text)
    typed = _without(answer.noun, text[start:])
    quantity = parse_quantity(typed, default_unit="1", asks=f"number of {answer.noun}")
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + start)
    if answer.noun == "tokens" and re.fullmatch(r"\s*\d+\s*k\b.*", text, re.IGNORECASE):
        quantity = _in_binary(quantity)
    if quantity.low != quantity.high:
        return Unreadable(offset=0, reason="type one whole number, not a range")
    if quantity.value.denominator != 1:
        of = f" of {answer.noun}" if answer.noun else ""
        return Unreadable(offset=0, reason=f"type a whole number{of}")
    if answer.among and quantity.value not in answer.among:
        *others, last = answer.among
        asked = f"{', '.join(map(str, others))} or {last}"
        why = [*filter(None, [_never(answer, quantity.value)]), f"type {asked}"]
        return Unreadable(offset=start, reason=f"{'; '.join(why)}, as the question says")
    return quantity


def _never(answer: CountAnswer, number: Fraction) -> str:
    """Return why it cannot be this number; "" where it can."""
    return next((why for value, why in answer.never if value == number), "")


def _without(noun: str, text: str) -> str:
    """Return "4 stages" without its noun, which the number may be typed with."""
    words = {noun, counted(1, noun)} - {""}
    named = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    behind = re.search(rf"(?<=\d)\s*\b(?:{named})\s*[.!]?\s*$", text, re.IGNORECASE)
    return text[: behind.start()] if words and behind else text


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


def _reading(quantity: Quantity, answer: CountAnswer) -> str:
    number = f"{answer.before}{describe(quantity)}"
    return f"{number} {counted(quantity.value, answer.noun)}".rstrip()


def _of_side(number: Fraction, answer: CountAnswer) -> Iterator[str]:
    if number != answer.value:
        yield f"Yours is too {'high' if number > answer.value else 'low'}."


def _forms(answer: CountAnswer) -> tuple[str, ...]:
    number = str(answer.among[0]) if answer.among else "8"
    forms = (number, f"{answer.before}{number}", f"{number} {answer.noun}".rstrip())
    return tuple(dict.fromkeys((*forms, *(("8k",) if answer.noun == "tokens" else ()))))


MARKER = Marker(of=CountAnswer, mark=_mark, forms=_forms)
