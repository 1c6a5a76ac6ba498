"""English numerals in words: sixteen, twenty-one, one hundred and twelve."""

from collections.abc import Sequence
from fractions import Fraction

from quiz.answers.quantity import RefusalError
from quiz.answers.tokens import Token

HUNDRED = 100


def cardinal(tokens: Sequence[Token], at: int) -> tuple[Fraction, int]:
    """Return the number that begins at `tokens[at]`, below a thousand, and the index behind it.

    Raises:
        RefusalError: with an index into the normalised text: number words in no order of English.
    """
    hundreds, number = Fraction(0), Fraction(1)
    if _word(tokens, at) != HUNDRED:
        number, at = _below_hundred(tokens, at)
    if _word(tokens, at) == HUNDRED:
        hundreds, number = number * HUNDRED, Fraction(0)
        after = at + 1
        joined = after < len(tokens) and tokens[after].said == "and"
        nearby = after + 1 if joined else after
        at = after
        # "between one hundred and two hundred" has two numbers.
        if 0 < _word(tokens, nearby) < HUNDRED and _word(tokens, nearby + 1) != HUNDRED:
            number, at = _below_hundred(tokens, nearby)
    if _word(tokens, at):
        raise RefusalError(tokens[at].start, "these number words do not fit; type digits instead")
    return hundreds + number, at


def _word(tokens: Sequence[Token], at: int) -> Fraction:
    """Return the number word at `at`, or 0."""
    known = at < len(tokens) and tokens[at].kind == "cardinal"
    return tokens[at].options[0].factor if known else Fraction(0)


def _below_hundred(tokens: Sequence[Token], at: int) -> tuple[Fraction, int]:
    first, second = _word(tokens, at), _word(tokens, at + 1)
    tens = first in range(20, HUNDRED, 10)
    if tens and 0 < second < 10:
        return first + second, at + 2
    return first, at + 1
