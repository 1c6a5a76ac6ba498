"""Weights where adapters alone are trained: the frozen model and the adapters (LoRA, QLoRA)."""

from collections.abc import Iterator

from engine.ledger import Category, Line
from engine.structure import Sharing
from engine.symbols import P_4, Q_64, Q_256, P, P_a, ceil_div

LORA = "arXiv 2106.09685 (LoRA) section 4"
QLORA = "arXiv 2305.14314 (QLoRA) section 3"


def weights(sharing: Sharing) -> Iterator[Line]:
    """Yield the frozen weights and the adapters' own."""
    each = sharing.precision.weights
    whole = ", whole on every rank" if sharing.many else ""
    rest = "the rest: embedding, norms and head" if sharing.four_bit else "all of the model"
    yield Line(
        name="frozen weights",
        category=Category.WEIGHTS,
        size=each * (P - P_4) if sharing.four_bit else each * P,
        why=f"{each} bytes a parameter and nothing else, {rest}{whole}",
        source=LORA,
    )
    if sharing.four_bit:
        yield from _in_4_bits(whole)
    yield Line(
        name="adapters",
        category=Category.WEIGHTS,
        size=each * P_a,
        why=f"{each} bytes a parameter: r rows and r columns for each adapted matrix{whole}",
        source=LORA,
    )


def _in_4_bits(whole: str) -> Iterator[Line]:
    yield Line(
        name="4-bit weights",
        category=Category.WEIGHTS,
        size=ceil_div(P_4, 2),
        why=f"half a byte for each parameter of the layers' matrices{whole}",
        source=QLORA,
    )
    yield Line(
        name="scales of the 4-bit weights",
        category=Category.WEIGHTS,
        size=Q_64 + 4 * Q_256,
        why="a byte for each block of 64, and 4 for each 256 of these: 0.127 bits a parameter",
        source=QLORA,
    )
