"""Expressions over arrays: the value of one for many scenarios at once, exact.

numpy's integers have 64 bits. `magnitude` bounds every number that comes up on the way, so that a
caller can take Python's integers, in an array of objects, where 64 bits are not enough.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Add, Basic, Integer, Max, Min, Mul, Pow, Symbol

from engine.symbols import ceil_div, compiled

Array = NDArray[Any]
Arrays = Mapping[Symbol, Array]
Value = Callable[[Arrays], Any]


@cache
def over_arrays(expression: Basic) -> Value:
    """Return a function that gives the integer values of `expression`.

    Raises:
        TypeError: the expression holds something else than `engine.symbols` allows.
    """
    if isinstance(expression, Integer):
        number = int(expression)
        return lambda _values: number
    if isinstance(expression, Symbol):
        return lambda values: values[expression]
    parts = tuple(over_arrays(part) for part in expression.args)
    if isinstance(expression, Add):
        return lambda values: sum(part(values) for part in parts)
    if isinstance(expression, Mul):
        return lambda values: prod(part(values) for part in parts)
    return _of_function(expression, parts)


def _of_function(expression: Basic, parts: Sequence[Value]) -> Value:
    if isinstance(expression, Max | Min):
        choose = np.maximum if isinstance(expression, Max) else np.minimum
        return lambda values: reduce(choose, [part(values) for part in parts])
    if isinstance(expression, ceil_div):
        x, n = parts
        return lambda values: -(-x(values) // n(values))
    compiled(expression)  # refuses what is not a whole power
    base, exponent = parts[0], int(str(expression.args[1]))
    return lambda values: base(values) ** exponent


@cache
def magnitude(expression: Basic) -> Callable[[Mapping[Symbol, int]], int]:
    """Return a function that gives what no number inside `expression` is beyond, in size.

    Its argument has the largest value of each symbol; all are positive or 0.
    """
    if isinstance(expression, Integer):
        number = abs(int(expression))
        return lambda _values: number
    if isinstance(expression, Symbol):
        return lambda values: values[expression]
    parts = tuple(magnitude(part) for part in expression.args)
    if isinstance(expression, Mul):
        return lambda values: prod(max(1, part(values)) for part in parts)
    if isinstance(expression, Pow):
        base, exponent = parts[0], int(expression.args[1])
        return lambda values: max(1, base(values)) ** exponent
    # A sum is no larger than the sum of its parts, and neither is a maximum or a quotient.
    return lambda values: sum(part(values) for part in parts)
