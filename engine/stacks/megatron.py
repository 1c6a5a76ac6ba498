"""The tapes of the `megatron` stack: Megatron-LM with Transformer Engine, on one rank.

Norm and the matrix behind it are one operator, SwiGLU is one, and gradients of weights are added
into fp32 buffers as they are made, so that none is ever a tensor of its own. The sizes are those
of one tensor rank; with sequence parallelism it has its share of the tokens, s_t of s, outside
attention and MLP, and gathers the others for a moment.

Sources: NVIDIA/Megatron-LM megatron/core/transformer (core 0.14), NVIDIA/TransformerEngine
transformer_engine/pytorch/module (2.11), arXiv 2205.05198 (Korthikanti et al.) section 4.
"""

from sympy.polys.rings import PolyElement

from engine.stacks import megatron_experts, megatron_latent, megatron_parts, parts
from engine.stacks.block import Block
from engine.stacks.megatron_parts import AGAIN, ROW, gathered, own, row, statistics, stream
from engine.stacks.pen import Pen, V, h, kv, positions, q, r, s, tokens
from engine.symbols import RING, L, d_r
from engine.tape import ZERO, Tape, Value


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = stream(pen, "residual stream")
    heads = megatron_latent.attention if block.latent else _attention
    branch = row(pen, heads(pen, x), "attention result")
    attended = pen.add(x, pen.dropout(branch, own * h), "residual stream")
    mlp = megatron_experts.experts if block.experts else megatron_parts.mlp
    branch = mlp(pen, attended)
    out = pen.add(attended, pen.dropout(branch, own * h), "next residual stream")
    return parts.checkpointed(pen, x, out)


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    pen = Pen(block)
    # The rows of other ranks are missing until all ranks' outputs have been added up.
    part = pen.compute * tokens * h if block.sequence_parallel else ZERO
    table = pen.gradient * (V * h + (ZERO if block.rotary else positions * h))
    x = pen.write(
        output=Value(name="embedded", size=pen.compute * own * h),
        workspace=part,
        backward_workspace=part + table,
    )
    pen.dropout(x, own * h)
    return Tape(operators=tuple(pen.operators))


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = Pen(block)
    x = stream(pen, "last residual stream")
    normed = pen.write(
        x,
        output=Value(name="final norm output", size=x.size, why="input of the head"),
        keeps=(x, statistics(pen)),
    )
    whole = gathered(pen)
    logits = pen.write(
        normed,
        output=Value(name="logits", size=pen.compute * tokens * V, why="go to the loss"),
        keeps=(normed,),
        workspace=whole,
        # Input and its gradient for all tokens.
        backward_workspace=2 * whole,
    )
    # One kernel puts the logits' gradient in the place of the logits.
    pen.write(logits, output=Value(name="loss", size=ZERO), workspace=4 * tokens)
    return Tape(operators=tuple(pen.operators), holds=(logits,))


def shared(block: Block) -> PolyElement:
    """Return the bytes of rotary angles, fp32, that all layers share.

    A layer with latent attention has its own, beside their cosines and sines in 16 bits.
    """
    own: PolyElement = RING(L) * (4 + 2 * block.precision.compute) * s * RING(d_r)
    once: PolyElement = 4 * s * r if block.rotary else ZERO
    return own if block.latent else once


def _attention(pen: Pen, x: Value) -> Value:
    joined = megatron_parts.norm_and_columns(pen, x, "queries, keys and values", q + 2 * kv, AGAIN)
    queries = Value(name="queries", size=pen.compute * tokens * q, why=AGAIN)
    keys, values = (
        Value(name=name, size=pen.compute * tokens * kv, why=AGAIN) for name in ("keys", "values")
    )
    pen.write(joined, output=queries, also=(keys, values))
    out = megatron_parts.attention(pen, queries, keys, values, size=queries.size)
    if pen.block.exchange == "a2a":
        # Heads for all tokens become all heads for the rank's tokens: another tensor.
        out = pen.write(
            out, output=Value(name="attention output, own tokens", size=out.size, why=ROW)
        )
    return out
