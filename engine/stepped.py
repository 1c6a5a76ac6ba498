"""The tensors that one rank steps: their shapes, which some optimizers' states depend on."""

from collections.abc import Iterable, Iterator

from engine.architecture import Tensor

FLAT = (1, 2)


def shapes(
    tensors: Iterable[Tensor], *, hidden: int, zero: int, ranks: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the shape of each tensor that the fullest rank steps, and how many there are of it.

    Args:
        tensors: all that the ranks share.
        hidden: h, the width of every expert's matrices on one side.
        zero: the stage; 1 and 2 step one flat tensor, 3 whole rows of each.
        ranks: N.
    """
    if zero in FLAT and ranks > 1:
        yield (-(-sum(t.size * t.copies for t in tensors) // ranks),), 1
        return
    for tensor in tensors:
        rows = -(-tensor.rows // ranks) if zero == 3 else tensor.rows
        yield (rows, *_behind_rows(tensor, hidden)), tensor.copies


def hidden(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return the layers' matrices: neither embedding and head nor norms and biases."""
    return tuple(t for t in tensors if t.place == "layer" and t.columns > 1)


def _behind_rows(tensor: Tensor, hidden: int) -> tuple[int, ...]:
    """Return the dimensions behind the first one; a matrix of each expert has two."""
    if tensor.routed:
        return tensor.columns // hidden, hidden
    return (tensor.columns,) if tensor.columns > 1 else ()
