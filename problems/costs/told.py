"""Mistakes as rows: a name, the number that it gives, and why that is not the answer."""

from collections.abc import Callable, Iterable
from fractions import Fraction

from problems.problem import Mistake

Row = tuple[str, Fraction | int, str]

# How far a sum on paper may lie from what is counted.
ROUNDING = Fraction(8, 1000)


def told(rows: Iterable[Row], said: Callable[[Fraction], str]) -> tuple[Mistake, ...]:
    """Return the mistakes, each explained behind its number as `said` writes it."""
    return tuple(
        Mistake(name=name, value=Fraction(value), feedback=f"{said(Fraction(value))} {why}")
        for name, value, why in rows
    )


def is_near(on_paper: Fraction | int, counted: Fraction | int) -> bool:
    """Return whether paper leads to what is counted, but for rounding."""
    return abs(Fraction(on_paper) / counted - 1) <= ROUNDING
