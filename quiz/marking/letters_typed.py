"""Finds numbers of the question that were typed in the place of its letters."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

from problems.answers.symbolic import Letter, SymbolicAnswer
from quiz.answers import TypedFormula, Unreadable
from quiz.marking.ratios import depends, points

# A whole number by itself: no width such as 16-bit or fp32, no part of a name such as 3.1 or 70B.
NUMBER = re.compile(
    r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d+)(?![\w-]|[.,]\d)(?! ?bytes?\b| ?bits?\b)"
)
# A smaller number is as likely a width in bytes.
TWO_DIGITS = 10
# Letters that a formula may have values for, and numbers of the text that are tried.
MOST_LETTERS = 3
MOST_NUMBERS = 8

NO_LETTER = "there is no letter in it; type a formula in the letters of the question"
A_VALUE = "this is the value of a letter; type the letter, not its value"
VALUES = "values stand here in the place of letters; type the letters"


def values_for_letters(
    typed: TypedFormula, answer: SymbolicAnswer, prompt: str
) -> Unreadable | None:
    """Return why a formula cannot be marked: it has values where the question asks for letters.

    Args:
        typed: a formula that is not right and is no known mistake.
        answer: what is asked for.
        prompt: the text whose numbers may have been typed.
    """
    missing, _ = depends(typed, answer)
    if not missing:
        return None
    if typed.numbers and not _has_letters(typed, answer):
        return Unreadable(offset=typed.numbers[0][1], reason=NO_LETTER)
    given = tuple(dict.fromkeys(int(n.replace(",", "")) for n in NUMBER.findall(prompt)))
    own = {*_coefficients(answer)}
    for number, start in typed.numbers:
        if number in given and number >= TWO_DIGITS and number not in own:
            return Unreadable(offset=start, reason=A_VALUE)
    tried = [number for number in given if number > 1][:MOST_NUMBERS]
    if len(missing) <= MOST_LETTERS and _right_with(typed, answer, missing, tried):
        return Unreadable(offset=0, reason=VALUES)
    return None


def _has_letters(typed: TypedFormula, answer: SymbolicAnswer) -> bool:
    """Return whether any letter changes what the formula gives."""
    return len({typed.at(point) for point in points(answer.letters)}) > 1


def _coefficients(answer: SymbolicAnswer) -> Iterator[int]:
    """Yield the numbers that the right formula and the known mistakes have."""
    for formula in (answer.formula, *(one.formula for one in answer.mistakes)):
        for _, number in formula.terms:
            yield from (abs(number.numerator), number.denominator)


def _right_with(
    typed: TypedFormula, answer: SymbolicAnswer, missing: list[Letter], numbers: list[int]
) -> bool:
    """Return whether the right formula gives the same with numbers for the missing letters."""
    names = [one.name for one in missing]
    at = [(point, typed.at(point)) for point in points(answer.letters)]
    for values in product(numbers, repeat=len(names)):
        put: Mapping[str, int] = dict(zip(names, values, strict=True))
        if all(answer.formula.at({**point, **put}) == value for point, value in at):
            return True
    return False
