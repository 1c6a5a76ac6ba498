"""How the lines of a stack are known: traced here, or read and measured elsewhere."""

from engine.ledger import Evidence
from engine.stacks.block import Block

TRACE = "the reference modules (engine/verify/reference.py), traced operator by operator"
READ = (
    "NVIDIA/Megatron-LM megatron/core (core 0.14); MooreThreads/SimuMax v1.2 docs/b200 measured it"
)


def source_of(block: Block, traced: str = TRACE) -> str:
    """Return the source of a line of the block's stack; `traced` where steps of it are traced."""
    return READ if block.stack == "megatron" else traced


def evidence_of(block: Block) -> Evidence:
    """Return how the lines of the block's stack are known."""
    return Evidence.MEASURED if block.stack == "megatron" else Evidence.TRACED
