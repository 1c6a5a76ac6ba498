"""How the lines of a stack are known: traced here, or read and measured elsewhere."""

from engine.ledger import Evidence
from engine.stacks.block import Block
from engine.stacks.registry import stack

TRACE = "the reference modules (engine/verify/reference.py), traced operator by operator"


def source_of(block: Block, traced: str = TRACE) -> str:
    """Return the source of a line of the block's stack; `traced` where steps of it are traced."""
    return stack(block.stack).source or traced


def evidence_of(block: Block) -> Evidence:
    """Return how the lines of the block's stack are known."""
    return Evidence(stack(block.stack).evidence)
