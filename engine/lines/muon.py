"""Muon's step: one matrix after another is made orthogonal by Newton-Schulz, in bf16.

Read from torch/optim/_muon.py (PyTorch 2.13). Most is alive in an iteration: the update, as wide
as what is stepped; the bf16 matrix before and behind the iteration; its Gram matrix and a
polynomial of that, both of the shorter side.
"""

from collections.abc import Iterator

from sympy import Expr, Integer

from engine.ledger import Category, Evidence, Line, Phase
from engine.structure import Structure
from engine.symbols import P, P_hidden, P_largest, P_matrix, V, d_matrix, h, largest

SOURCE = "torch/optim/_muon.py, _zeropower_via_newtonschulz (PyTorch 2.13)"
BF16 = 2


def step(structure: Structure) -> Iterator[Line]:
    """Yield what one tensor's step makes, and apart what of it the first step lacks."""
    late = _beside_states(structure)
    why = (
        "an update, two bf16 copies of it and two Gram matrices, of the largest matrix of a layer"
    )
    cast = f"{why}; or the fp32 copy of a gradient, where that is more"
    for name, size, more, early in (
        ("temporaries of one matrix", late, "", False),
        (
            "more of them",
            _most(structure) - late,
            "; in the first step they come before the last states",
            True,
        ),
    ):
        yield Line(
            name=name,
            category=Category.TEMPORARY,
            size=size,
            phases=(Phase.STEP,),
            why=f"{cast if _casts(structure) else why}{more}",
            source=SOURCE,
            evidence=Evidence.TRACED,
            before_states=early,
        )


def _casts(structure: Structure) -> bool:
    """Return whether each 16-bit gradient is cast for the master copy, one at a time."""
    return bool(structure.precision.master) and not structure.main_gradients


def _of_matrix(structure: Structure) -> Expr:
    """Return the bytes beside states and weights while the largest matrix is stepped."""
    each = structure.precision.stepped * (2 if _casts(structure) else 1)
    size: Expr = (each + 2 * BF16) * P_matrix + 2 * BF16 * d_matrix**2
    return size


def _most(structure: Structure) -> Expr:
    of_matrix = _of_matrix(structure)
    return largest(4 * P_largest, of_matrix) if _casts(structure) else of_matrix


def _beside_states(structure: Structure) -> Expr:
    """Return the most that the first step holds in states and temporaries, beyond all states.

    A master copy is stepped tensor by tensor, from the embedding to the head, states with it. All
    else is two calls: the momenta of all matrices come first, AdamW's moments behind them. The
    largest matrix is taken for the layer's last, as it is where the MLP is the widest part.
    """
    each, table, of_matrix = structure.precision.stepped, V * h, _of_matrix(structure)
    if not structure.precision.master:
        return largest(Integer(0), of_matrix - 2 * each * (P - P_hidden))
    if structure.block.tied:
        if not _casts(structure):
            return of_matrix
        return largest(of_matrix, 3 * each * table - each * (2 * P - P_hidden))
    head = 4 * table if _casts(structure) else Integer(0)
    return largest(head, of_matrix - 2 * each * table)
