"""What the classes of Transformers hold beside model states and activations."""

from collections.abc import Iterator

from engine.ledger import Category, Evidence, Line, Phase
from engine.stacks.hf_norms import is_gemma2
from engine.structure import Structure
from engine.symbols import b, s


def lines(structure: Structure) -> Iterator[Line]:
    """Yield the second mask that checkpoints keep where some layers have a window."""
    block = structure.block
    kept = block.recompute == "full" and block.attention == "eager" and not block.served
    if kept and is_gemma2(block) and block.some_windows:
        yield Line(
            name="mask of the other layers",
            category=Category.TEMPORARY,
            size=block.precision.residual * b * s**2,
            phases=(Phase.FORWARD, Phase.LOSS, Phase.BACKWARD_FIRST),
            why="checkpoints keep the mask of layers with a window and that of layers without one",
            source="huggingface/transformers src/transformers/models/gemma2/modeling_gemma2.py",
            evidence=Evidence.TRACED,
        )
