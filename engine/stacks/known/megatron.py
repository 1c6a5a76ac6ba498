"""The tapes of the `megatron` stack: Megatron-LM with Transformer Engine, on one rank.

Norm and the matrix behind it are one operator, SwiGLU is one, and gradients of weights are added
into fp32 buffers as they are made, so that none is ever a tensor of its own. The sizes are those
of one tensor rank; with sequence parallelism it has its share of the tokens, s_t of s, outside
attention and MLP, and gathers the others for a moment.

Sources: NVIDIA/Megatron-LM megatron/core/transformer (core 0.14), NVIDIA/TransformerEngine
transformer_engine/pytorch/module (2.11), arXiv 2205.05198 (Korthikanti et al.) section 4.
"""

from collections.abc import Iterator, Mapping

from sympy.polys.rings import PolyElement

from engine.architecture import Architecture
from engine.errors import Fault
from engine.settings import Settings
from engine.stacks import gaps, megatron_experts, megatron_latent, megatron_parts, parts
from engine.stacks.block import Block
from engine.stacks.megatron_parts import AGAIN, ROW, gathered, own, row, statistics, stream
from engine.stacks.pen import Pen, V, h, kv, positions, q, r, s, tokens
from engine.stacks.stack import Stack
from engine.symbols import RING, L, d_r
from engine.tape import ZERO, Tape, Value

# Megatron-LM's own optimizer steps an fp32 master copy in one kernel, from gradients that it
# accumulates in fp32.
BROUGHT: Mapping[str, str] = {
    "precision": "mixed-fp32-grad",
    "optimizer": "adamw-fused",
    "loss": "fused",
}


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = stream(pen, name="residual stream")
    heads = megatron_latent.attention if block.latent else _attention
    branch = row(pen, heads(pen, x), name="attention result")
    attended = pen.add(x, pen.dropout(branch, own * h), name="residual stream")
    mlp = megatron_experts.experts if block.experts else megatron_parts.mlp
    branch = mlp(pen, attended)
    out = pen.add(attended, pen.dropout(branch, own * h), name="next residual stream")
    return parts.checkpointed(pen, x, out)


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    pen = Pen(block)
    # The rows of other ranks are missing until all ranks' outputs have been added up.
    part = pen.compute * tokens * h if block.sequence_parallel else ZERO
    table = pen.gradient * (V * h + (ZERO if block.rotary else positions * h))
    x = pen.write(
        output=Value(name="embedded", size=pen.compute * own * h),
        backward_workspace=part + table,
    )
    pen.dropout(x, own * h)
    return Tape(operators=tuple(pen.operators))


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = Pen(block)
    x = stream(pen, name="last residual stream")
    normed = pen.write(
        x,
        output=Value(name=parts.FINAL_NORM, size=x.size, why="input of the head"),
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
    return Tape(operators=tuple(pen.operators))


def shared(block: Block) -> PolyElement:
    """Return the bytes of rotary angles, fp32, that all layers share.

    A layer with latent attention has its own, beside their cosines and sines in 16 bits.
    """
    own: PolyElement = RING(L) * (4 + 2 * block.precision.compute) * s * RING(d_r)
    once: PolyElement = 4 * s * r if block.rotary else ZERO
    return own if block.latent else once


def _attention(pen: Pen, x: Value) -> Value:
    joined = megatron_parts.norm_and_columns(
        pen, x, q + 2 * kv, why=AGAIN, name="queries, keys and values"
    )
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


def _gaps(settings: Settings) -> Iterator[Fault]:
    yield from gaps.of_recipe(settings, {name: (value,) for name, value in BROUGHT.items()})
    if settings.parallel.expert > 1 and settings.architecture.experts is None:
        yield Fault("parallel.expert", "the model has no experts", "give expert = 1")
    if settings.parallel.zero > 1:
        what = f"{settings.parallel.zero} with megatron"
        yield gaps.no_lines("parallel.zero", what, "0, 1: its distributed optimizer")
    a = settings.architecture
    blocks = {
        "layers whose attention and MLP run side by side": a.parallel_residual,
        "query and key norms": a.qk_norm != "none",
        "rotary positions of a part of each head": a.rotary_dim < a.head_dim,
        "biases": a.head_bias,
        "norms behind attention and MLP": a.norm_outputs,
        "layers without norms before attention and MLP": not a.norm_inputs,
        "soft-capped attention and logits": a.soft_cap,
    }
    yield from gaps.of_model(settings, blocks, "give another stack")
    if a.experts or a.latent:
        yield from _experts_or_latent(settings)
    yield from gaps.of_experts(settings)


def _experts_or_latent(settings: Settings) -> Iterator[Fault]:
    a, parallel = settings.architecture, settings.parallel
    if parallel.tensor > 1:
        what = f"{parallel.tensor} with experts or latent attention"
        yield gaps.no_lines("parallel.tensor", what, "1: expert and pipeline ranks instead")
    if a.latent and parallel.context > 1:
        what = f"{parallel.context} with latent attention"
        yield gaps.no_lines("parallel.context", what, "1")
    on_first = a.experts.dense_layers if a.experts else 0
    other = a.experts is not None and a.activation != "silu"
    blocks = {
        "biases beside experts or latent attention": _has_biases(a),
        "experts with another activation than SiLU": other,
        "layers without experts beyond the first stage": on_first * parallel.pipeline > a.layers,
    }
    yield from gaps.of_model(settings, blocks, "take other blocks, or another stack")


def _has_biases(a: Architecture) -> bool:
    router = a.experts is not None and a.experts.router_bias
    return router or a.qkv_bias or a.output_bias or a.mlp_bias


STACK = Stack(
    layer=layer,
    embedding=embedding,
    head=head,
    shared=shared,
    lines="engine.lines.megatron:lines",
    gaps=_gaps,
    brings=BROUGHT,
    source="NVIDIA/Megatron-LM megatron/core (core 0.14); "
    "MooreThreads/SimuMax v1.2 docs/b200 measured it",
    evidence="measured",
    why_not_run="it wants GPUs and a launcher of its own",
    held_to="measured runs",
    steps_on_host=False,
    no_float8="Transformer Engine keeps FP8 copies of matrices and of their inputs, and no "
    "measurement says which of them live at the peak",
    highest_zero=1,
    fused_kernels=True,
    fused_accumulation=True,
    overlaps_tensor_parallel=True,
)
