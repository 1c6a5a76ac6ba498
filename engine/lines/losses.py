"""What a loss holds of the vocabulary, one function for each loss."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sympy.polys.rings import PolyElement

from engine.ledger import Category, Line, Phase
from engine.lines.origin import TRACE, evidence_of, source_of
from engine.stacks.block import Block
from engine.symbols import RING, R_chunk, V, b, expression, h, s
from engine.tape import ZERO

LIGER = "linkedin/Liger-Kernel src/liger_kernel/ops"
TORCH = "torch/nn/functional.py, cross_entropy; derivative of _log_softmax"
TORCH_TANH = "tools/autograd/derivatives.yaml of PyTorch, tanh; arXiv 2408.00118 section 2"
TANH = "tanh of the logits"
BOTH = (Phase.FORWARD, Phase.LOSS)
_tokens, _vocabulary = RING(b) * RING(s), RING(V)


@dataclass(frozen=True, kw_only=True)
class Held:
    """A line over the vocabulary, with its size as a polynomial of bytes.

    `saved` says whether the head's tape has it among what is kept for the backward pass.
    """

    name: str
    size: PolyElement
    phases: tuple[Phase, ...]
    category: Category = Category.LOGITS
    saved: bool = False
    why: str
    source: str


Loss = Callable[[Block], Iterator[Held]]


def lines(block: Block) -> Iterator[Line]:
    """Yield the lines of the block's loss."""
    for held in LOSSES[block.loss](block):
        yield Line(
            name=held.name,
            category=held.category,
            size=expression(held.size),
            phases=held.phases,
            why=held.why,
            source=source_of(block, held.source),
            evidence=evidence_of(block),
        )


def counted(block: Block, phase: Phase) -> PolyElement:
    """Return the bytes of those lines that are alive in `phase`, beyond what the tape saves."""
    rows = LOSSES[block.loss](block)
    alive = (held.size for held in rows if phase in held.phases and not held.saved)
    size: PolyElement = sum(alive, ZERO)
    return size


def _eager(block: Block) -> Iterator[Held]:
    each = block.precision.compute
    wide = each != 4
    logits = _tokens * _vocabulary
    yield Held(
        name="log-softmax",
        size=4 * logits,
        phases=BOTH,
        saved=True,
        why="cross entropy keeps fp32 log-probabilities of the whole vocabulary",
        source=TORCH,
    )
    if block.soft_cap:
        yield Held(
            name=TANH,
            size=each * logits,
            phases=BOTH,
            saved=True,
            why="the cap of the logits is a tanh, and its derivative needs what it returned",
            source=TORCH_TANH,
        )
    yield Held(
        name="logits" if not wide else "logits and their fp32 copy",
        size=(each + (4 if wide else 0)) * logits,
        phases=(Phase.FORWARD,),
        why="the head's output, and its upcast for a stable softmax",
        source=TRACE,
    )
    yield Held(
        name="gradients of log-softmax and logits",
        size=8 * logits,
        phases=(Phase.LOSS,),
        why="two fp32 tensors over the vocabulary at once, beside the log-probabilities",
        source=TORCH,
    )


def _fused(block: Block) -> Iterator[Held]:
    yield Held(
        name="logits, then their gradient",
        size=block.precision.compute * _tokens * _vocabulary,
        phases=BOTH,
        why="one kernel reads the logits and puts their gradient in the same place",
        source=f"{LIGER}/cross_entropy.py",
    )


def _chunked(block: Block) -> Iterator[Held]:
    each, weights = block.precision.compute, block.precision.weights
    source = f"{LIGER}/fused_linear_cross_entropy.py"
    rows = RING(h) + (1 if block.head_bias else 0)
    yield Held(
        name="logits of a chunk",
        size=each * RING(R_chunk) * _vocabulary,
        phases=(Phase.FORWARD,),
        why="head and loss take a chunk of rows at a time, so the rest of the logits never are",
        source=source,
    )
    if not block.frozen:
        yield Held(
            name="the head's gradient, made early",
            category=Category.GRADIENTS,
            size=weights * _vocabulary * rows,
            phases=BOTH,
            why="a chunk's logits are gone with it, so the forward pass adds up the gradient",
            source=source,
        )
    yield Held(
        name="gradient of the final norm's output",
        category=Category.TEMPORARY,
        size=block.precision.residual * _tokens * RING(h),
        phases=BOTH,
        why="made chunk by chunk in the forward pass too; the backward pass begins with it",
        source=source,
    )


LOSSES: Mapping[str, Loss] = {"eager": _eager, "fused": _fused, "chunked": _chunked}
