"""The tapes of the `liger` stack: a Llama whose blocks are the Triton kernels of Liger-Kernel.

Rotary positions turn queries and keys in place, SwiGLU is one kernel that keeps gate and up alone,
and head and loss run over chunks of rows. Read from the source, not traced.
"""

from collections.abc import Iterator

from sympy.polys.rings import PolyElement

from engine.errors import Fault
from engine.families.registry import family_of
from engine.settings import Settings
from engine.stacks import gaps, losses, parts
from engine.stacks.block import Block
from engine.stacks.pen import Pen, f, h, kv, q, r, s, tokens
from engine.stacks.stack import Stack
from engine.tape import Tape, Value

NORMED = "norm outputs"
HEADS_AGAIN = "attention needs q, k and v again"
FACTORS_AGAIN = "the kernel makes SiLU anew and needs its factors again"
MODELLED = {
    "precision": ("mixed", "pure-bf16"),
    "attention": ("flash",),
    "recompute": ("none", "full"),
    "loss": ("chunked",),
    "dropout": (0.0,),
}


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = parts.stream(pen, name="residual stream")
    branch = _attention(pen, _norm(pen, x, name=NORMED))
    attended = pen.add(x, branch, name="residual stream")
    branch = _mlp(pen, _norm(pen, attended, name=NORMED))
    out = pen.add(attended, branch, name="next residual stream")
    return parts.checkpointed(pen, x, out)


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    return parts.embedding(Pen(block), dropout=False)


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = Pen(block)
    x = parts.stream(pen, name="last residual stream")
    normed = _norm(pen, x, name=parts.FINAL_NORM)
    return losses.WRITERS[block.loss](pen, normed)


def shared(block: Block) -> PolyElement:
    """Return the bytes of the rotary tables."""
    size: PolyElement = 2 * block.precision.compute * s * r
    return size


def _norm(pen: Pen, x: Value, *, name: str) -> Value:
    return pen.norm(x, h, name=name, rows=tokens, size=x.size)


def _attention(pen: Pen, x: Value) -> Value:
    bias = pen.block.qkv_bias
    queries, keys, values = (
        pen.linear(x, (width, h), name=name, bias=bias, why=HEADS_AGAIN)
        for name, width in (("queries", q), ("keys", kv), ("values", kv))
    )
    out = parts.flash(pen, queries, keys, values)
    why = "goes to the residual stream"
    bias = pen.block.output_bias
    return pen.linear(out, (h, q), name="attention result", bias=bias, why=why)


def _mlp(pen: Pen, x: Value) -> Value:
    bias = pen.block.mlp_bias
    gate = pen.linear(x, (f, h), name="MLP gate", bias=bias, why=FACTORS_AGAIN)
    up = pen.linear(x, (f, h), name="MLP up", bias=bias, why=FACTORS_AGAIN)
    hidden = Value(name="MLP hidden", size=up.size, why="input of the down matrix")
    pen.write(gate, up, output=hidden, keeps=(gate, up))
    why = "goes to the residual stream"
    return pen.linear(hidden, (h, f), name="MLP result", bias=bias, why=why)


def _gaps(settings: Settings) -> Iterator[Fault]:
    family = family_of(settings.architecture)
    other = family is None or family.model_type not in {"llama", "mistral"}
    yield from gaps.of_model(settings, {"other blocks than Llama's": other}, "the fused stack")
    yield from gaps.of_recipe(settings, MODELLED)
    yield from gaps.of_modules(settings)


STACK = Stack(
    layer=layer,
    embedding=embedding,
    head=head,
    shared=shared,
    gaps=_gaps,
    brings={"loss": "chunked"},
    source="linkedin/Liger-Kernel src/liger_kernel/ops/{rms_norm,rope,swiglu}.py",
)
