"""The forms that a state of an optimizer has: a class for each, which is all that one takes.

A form knows what one state of all parameters takes on a rank. Where that depends on the shapes of
the tensors and not on their elements alone, it has symbols of its own, and counts what they stand
for.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from math import prod
from typing import ClassVar, final

from sympy import Expr, Symbol

from engine.optimizers import Optimizer
from engine.symbols import P_blocks, P_factors, P_hidden, P_paged, P_small

# bitsandbytes: the elements of a block, and the fewest that a tensor with 8-bit states has.
BLOCK, LEAST = 256, 4096
# The fewest elements of a tensor whose states are paged.
PAGED = 100_000
# Bytes of the fp32 numbers that the 256 codes of an 8-bit state stand for, one table for all.
MAP = 4 * 256

Shapes = Iterable[tuple[tuple[int, ...], int]]


class Form(ABC):
    """What one state is, of all the parameters that a rank steps.

    Attributes:
        name: as rows of `engine.optimizers.optimizers` have it.
        by_elements: whether the number of parameters decides the size, without their shapes.
    """

    name: ClassVar[str]
    by_elements: ClassVar[bool] = True

    @abstractmethod
    def size(self, elements: Expr, each: int) -> Expr:
        """Return the bytes of one state on a rank.

        Args:
            elements: that the rank steps.
            each: bytes of one of them, in the dtype that is stepped.
        """

    @abstractmethod
    def why(self, states: str, each: int) -> str:
        """Return the first words of the reason for the size, of `states` such as "two moments"."""

    @abstractmethod
    def nearly(self, each: int) -> int:
        """Return the bytes of one state for each parameter, scales and factors left out."""

    def on_paper(self, states: int, each: int) -> str:
        """Return what all states take for each parameter in bytes, as one writes it down."""
        return str(states * self.nearly(each))

    def counts(self, _stepped: Shapes) -> Mapping[Symbol, int]:
        """Return what the form's own symbols stand for.

        Args:
            _stepped: shapes of the tensors that the rank steps, and how many there are of each.
        """
        return {}


@final
class Whole(Form):
    """In the dtype of what is stepped."""

    name = "whole"

    def size(self, elements: Expr, each: int) -> Expr:
        """Return as much as the stepped tensors have."""
        size: Expr = each * elements
        return size

    def why(self, states: str, each: int) -> str:
        """Name the states and their bytes."""
        return f"{states} of {each} bytes a parameter"

    def nearly(self, each: int) -> int:
        """Return the bytes of what is stepped."""
        return each


@final
class Fp32(Form):
    """In fp32, whatever is stepped."""

    name = "fp32"

    def size(self, elements: Expr, each: int) -> Expr:
        """Return 4 bytes an element."""
        size: Expr = self.nearly(each) * elements
        return size

    def why(self, states: str, each: int) -> str:
        """Name the states and their bytes."""
        return f"{states} in fp32, {self.nearly(each)} bytes a parameter"

    def nearly(self, each: int) -> int:
        """Return 4."""
        del each
        return 4


@final
class EightBit(Form):
    """A byte an element and an fp32 number for each block; in fp32 for small tensors."""

    name = "8-bit"

    def size(self, elements: Expr, each: int) -> Expr:
        """Return bytes, scales, what small tensors take beyond a byte, and the table of codes."""
        size: Expr = self.nearly(each) * elements + 3 * P_small + 4 * P_blocks + MAP
        return size

    def why(self, states: str, each: int) -> str:
        """Name the states, and what a block has."""
        del each
        what = f"{states} of a byte a parameter and 4 bytes for each block of {BLOCK}"
        return f"{what}; small tensors' in fp32"

    def nearly(self, each: int) -> int:
        """Return 1."""
        del each
        return 1

    def on_paper(self, states: int, each: int) -> str:
        """Write the scale of each block beside the bytes."""
        return f"{states * self.nearly(each)} + {4 * states}/{BLOCK}"

    def counts(self, stepped: Shapes) -> Mapping[Symbol, int]:
        """Count the elements of small tensors, and the blocks of all others."""
        small = blocks = 0
        for shape, copies in stepped:
            size = prod(shape)
            if size < LEAST:
                small += copies * size
            else:
                blocks += copies * -(-size // BLOCK)
        return {P_small: small, P_blocks: blocks}


@final
class Factored(Form):
    """Rows and columns of a matrix instead of its elements."""

    name = "factored"
    by_elements = False

    def size(self, elements: Expr, each: int) -> Expr:
        """Return the bytes of rows, columns and vectors."""
        del elements
        size: Expr = each * P_factors
        return size

    def why(self, states: str, each: int) -> str:
        """Say what stands in place of the elements."""
        del states
        return f"{each} bytes for each row and column of a matrix in place of its second moments"

    def nearly(self, each: int) -> int:
        """Return 0: factors are little beside the elements of a matrix."""
        del each
        return 0

    def on_paper(self, states: int, each: int) -> str:
        """Write the bytes of a row or a column."""
        return f"{states * each} a row and column"

    def counts(self, stepped: Shapes) -> Mapping[Symbol, int]:
        """Count the factors over the last two dimensions; a vector has none."""
        return {P_factors: sum(copies * _factors(shape) for shape, copies in stepped)}


def _factors(shape: tuple[int, ...]) -> int:
    if len(shape) == 1:
        return shape[0]
    *outer, rows, columns = shape
    return prod(outer) * (rows + columns)


@final
class Hidden(Form):
    """One for the layers' matrices, and a second moment beside it for all other parameters."""

    name = "hidden"
    by_elements = False

    def size(self, elements: Expr, each: int) -> Expr:
        """Return one for all elements, and one more for those outside the layers' matrices."""
        size: Expr = each * (2 * elements - P_hidden)
        return size

    def why(self, states: str, each: int) -> str:
        """Say what has one and what has two."""
        of = "of the layers' matrices, two moments of all others"
        return f"{states} of {each} bytes a parameter {of}"

    def nearly(self, each: int) -> int:
        """Return the bytes of what is stepped: most parameters are in the layers' matrices."""
        return each

    def on_paper(self, states: int, each: int) -> str:
        """Write what the others take beside it."""
        return f"{states * each}; {2 * states * each} outside the layers' matrices"


FORMS: Mapping[str, Form] = {
    form.name: form for form in (Whole(), Fp32(), EightBit(), Factored(), Hidden())
}


def in_pages(stepped: Shapes) -> Mapping[Symbol, int]:
    """Return the elements whose states are paged, where an optimizer pages any."""
    sizes = [(prod(shape), copies) for shape, copies in stepped]
    return {P_paged: sum(size * copies for size, copies in sizes if size >= PAGED)}


def form_of(optimizer: Optimizer) -> Form:
    """Return the form of each of the optimizer's states."""
    return FORMS[optimizer.form]
