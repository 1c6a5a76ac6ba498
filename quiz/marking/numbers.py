"""Marks a typed number: read in the unit of the question, assessed, put into a verdict."""

from problems.answers.answer import Number
from problems.problem import Problem
from quiz.answers import Quantity, Unreadable, describe, parse_quantity, read_seconds
from quiz.marking.assess import assess
from quiz.marking.verdict import Verdict, mark_of, opening


def read_number(asked: Number, text: str) -> Quantity | Unreadable:
    """Read `text` as the number that is asked for."""
    if asked.unit == "s":
        return read_seconds(text)
    asks = "bytes per parameter" if asked.default_unit in {"B", "bytes"} else None
    return parse_quantity(text, default_unit=asked.default_unit, symbols=asked.symbols, asks=asks)


def number_forms(asked: Number) -> tuple[str, ...]:
    """Return lines in which such a number can be typed."""
    if asked.unit == "s":
        return ("0.4 s", "400 ms", "1.5 min")
    if asked.unit == "1":
        return ("250", "about 3.5 billion", "2 + 14/4")
    if asked.default_unit in {"B", "bytes"}:
        return ("12", "2 + 14/4", "about 10", "8-9")
    return ("37 GB", "34.5 GiB", "12-14 GB", "about 30 GB", "6.7e9 * 16 bytes")


def mark_number(problem: Problem, asked: Number, text: str) -> Verdict | Unreadable:
    """Mark `text` as an answer to `problem`, which asks for one number."""
    quantity = read_number(asked, text)
    if isinstance(quantity, Unreadable):
        return quantity
    marked = assess(quantity, asked, problem)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=quantity.value,
        score=marked.score,
        verdict=mark_of(marked.score),
        mistake=marked.mistake,
        held=marked.held,
        feedback=" ".join([f"{opening(marked.score)}{problem.answer.said}.", *marked.says]),
        reading=describe(quantity),
        remarks=quantity.remarks,
    )
