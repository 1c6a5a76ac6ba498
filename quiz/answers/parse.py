"""The whole way from typed text to a quantity."""

from collections.abc import Mapping
from fractions import Fraction

from quiz.answers.frame import unframe
from quiz.answers.grammar import Parser
from quiz.answers.lexer import Lexer
from quiz.answers.normal import Text, normalise
from quiz.answers.quantity import Quantity, RefusalError, Unreadable
from quiz.answers.question import Question, understand
from quiz.answers.reading import read
from quiz.answers.tokens import Tokens


def parse_quantity(
    text: str,
    *,
    default_unit: str | None = None,
    symbols: Mapping[str, int | Fraction] | None = None,
    asks: str | None = None,
) -> Quantity | Unreadable:
    """Read a typed number with its unit, arithmetic and hedges.

    Args:
        text: the answer as typed; any text at all is safe.
        default_unit: the unit a bare number takes, as the question states it: "GB", "bytes" or
            another unit of bytes; None or "1" where a plain number is asked.
        symbols: the question's own symbols and their values.
        asks: what the question asks for, in words ("memory, in bytes", "bytes per parameter",
            "number of GPUs", "a ratio", "seconds"). It decides what a lone B means, which counts
            fit and what a refusal says to type. With a size asked and no `default_unit`, a bare
            number is refused.

    Returns:
        The quantity, in bytes or as a plain number, or the place and reason of a refusal.

    Raises:
        ValueError: `default_unit` is no unit of bytes.
    """
    question = understand(default_unit, symbols, asks)
    try:
        typed = normalise(text)
    except RefusalError as refusal:
        found = refusal.unreadable
        return Unreadable(offset=found.offset, reason=question.told(found.reason))
    try:
        return _read(typed, question)
    except RefusalError as refusal:
        found = refusal.unreadable
        return Unreadable(offset=typed.where[found.offset], reason=question.told(found.reason))


def _read(typed: Text, question: Question) -> Quantity:
    framed = unframe(typed)
    found = Lexer(framed.text, question).tokens()
    tokens = Tokens(
        found.tokens,
        found.approximate or framed.approximate,
        (*found.remarks, *framed.remarks),
    )
    return read(Parser(tokens, len(framed.text.plain)).answer(), question)
