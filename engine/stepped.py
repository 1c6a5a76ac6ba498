"""What an optimizer keeps where that depends on the tensors: those that one rank steps."""

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from sympy import Symbol

from engine.architecture import Tensor
from engine.optimizers import OPTIMIZERS
from engine.symbols import P_blocks, P_factors, P_small

# bitsandbytes: the elements of a block, and the fewest that a tensor with 8-bit states has.
BLOCK, LEAST = 256, 4096
FLAT = (1, 2)
STACKED = ("expert up", "expert down")


def of_rank(
    tensors: Iterable[Tensor], optimizer: str, *, hidden: int, zero: int, ranks: int
) -> Mapping[Symbol, int]:
    """Return what the symbols of the optimizer's states stand for on the fullest rank.

    Args:
        tensors: all that the ranks share.
        optimizer: a name of `engine.optimizers.OPTIMIZERS`.
        hidden: h, the width of every expert's matrices on one side.
        zero: the stage; 1 and 2 step one flat tensor, 3 whole rows of each.
        ranks: N.
    """
    row = OPTIMIZERS[optimizer]
    if row.form in {"whole", "fp32"}:
        return {}
    shapes = list(_shapes(tensors, hidden=hidden, zero=zero, ranks=ranks))
    if row.form == "factored":
        return {P_factors: sum(copies * _factors(shape) for shape, copies in shapes)}
    return in_8_bits((prod(shape), copies) for shape, copies in shapes)


def in_8_bits(sizes: Iterable[tuple[int, int]]) -> Mapping[Symbol, int]:
    """Return what the symbols of 8-bit states stand for.

    Args:
        sizes: elements of a tensor, and how many there are of it.
    """
    small = blocks = 0
    for size, copies in sizes:
        if size < LEAST:
            small += copies * size
        else:
            blocks += copies * -(-size // BLOCK)
    return {P_small: small, P_blocks: blocks}


def _shapes(
    tensors: Iterable[Tensor], *, hidden: int, zero: int, ranks: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the shape of each tensor that the rank steps, and how many there are of it."""
    if zero in FLAT and ranks > 1:
        yield (-(-sum(t.size * t.copies for t in tensors) // ranks),), 1
        return
    for tensor in tensors:
        rows = -(-tensor.rows // ranks) if zero == 3 else tensor.rows
        yield (rows, *_behind_rows(tensor, hidden)), tensor.copies


def _behind_rows(tensor: Tensor, hidden: int) -> tuple[int, ...]:
    """Return the dimensions behind the first one; a matrix of each expert has two."""
    if tensor.name in STACKED:
        return tensor.columns // hidden, hidden
    return (tensor.columns,) if tensor.columns > 1 else ()


def _factors(shape: tuple[int, ...]) -> int:
    """Return the elements of the factors over the last two dimensions; a vector has none."""
    if len(shape) == 1:
        return shape[0]
    *outer, rows, columns = shape
    return prod(outer) * (rows + columns)
