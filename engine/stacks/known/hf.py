"""The tapes of the `hf` stack: the classes of Hugging Face Transformers.

Read from Transformers 5.24, models/{llama,mistral,qwen2,mixtral,gpt2,gpt_neox,olmo2,gemma2}/
modeling_*.py, and traced operator by operator. RMSNorm, the masks of eager attention and GPT-2's
GELU are plain operators there, and each keeps what its own backward needs.
"""

from collections.abc import Iterator
from dataclasses import replace

from sympy.polys.rings import PolyElement

from engine.errors import Fault
from engine.families.registry import family_of, modelled_types
from engine.settings import Settings
from engine.stacks import gaps, hf_attention, hf_mlp, hf_norms, parts
from engine.stacks.block import Block
from engine.stacks.pen import Pen, b, h, r, s, tokens
from engine.stacks.stack import Stack
from engine.tape import ZERO, Operator, Tape, Value

# Catalogued models of Llama's shape, whose classes in Transformers run other operators.
OTHER_CLASSES = ("gemma-2b", "gemma-7b", "phi-3")


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = parts.stream(pen, name="residual stream")
    normed = _norm(pen, x, name="norm outputs") if block.norm_inputs else x
    branch, weights = hf_attention.attention(pen, normed)
    attention = branch = _hidden_dropout(pen, branch)
    if block.parallel_residual:
        other = _norm(pen, x, name="norm outputs")
        other = _hidden_dropout(pen, hf_mlp.mlp(pen, other))
        both = Value(name="sum of the branches", size=branch.size)
        branch = pen.write(other, branch, output=both, hands_on=True)
        out = pen.add(x, branch, name="next residual stream")
        pen.hold(other, attention)  # the layer's own names
    else:
        attended = pen.add(x, _behind(pen, branch), name="residual stream")
        entry = attended
        if block.norm_inputs:
            entry = _norm(pen, attended, name="norm outputs")
        branch = _hidden_dropout(pen, hf_mlp.mlp(pen, entry))
        out = pen.add(attended, _behind(pen, branch), name="next residual stream")
        if not block.rotary:
            weights = (*weights, attention, entry)  # names of GPT-2's
    pen.hold(*weights)
    keeps_entry = any(x in operator.kept for operator in pen.operators)
    waiting = _waiting(block, keeps_entry=keeps_entry)
    return parts.checkpointed(pen, x, out, beside=(waiting,))


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    pen = Pen(block)
    tape = parts.embedding(pen, dropout=block.dropout and _drops_hidden(block))
    if not hf_norms.is_gemma2(block):
        return tape
    (rows,) = tape.operators
    pen.write(rows.output, output=Value(name="scaled rows", size=rows.output.size))
    return Tape(operators=tuple(pen.operators))


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = Pen(block)
    normed = _norm(pen, parts.stream(pen, name="last residual stream"), name=parts.FINAL_NORM)
    tape = parts.logits_and_loss(pen, normed, holds_input=True)
    # Its own kind of cache: the loss's frame refers to both, and only the loss's backward, which
    # is over before the logits have their gradients, asks for the shifted ones again.
    targets = Value(name="padded and shifted targets", size=8 * (tokens + b + tokens), cached=True)
    *before, loss = tape.operators
    loss = replace(loss, inputs=(*loss.inputs, targets))
    return replace(tape, operators=(*before, Operator(inputs=(), output=targets), loss))


def shared(block: Block) -> PolyElement:
    """Return the bytes of what all layers share until the backward: rotary tables, at least."""
    each = hf_attention.of_rotary(block)
    size: PolyElement = 2 * each * s * r if block.rotary else ZERO
    # The mask is let go behind the last layer, unless checkpoints keep it for another time.
    return size + _mask(block) if block.recompute == "full" else size


def _waiting(block: Block, *, keeps_entry: bool) -> Value:
    """Return what the model's frame refers to while a layer runs, beyond what layers keep.

    `keeps_entry` says whether a layer keeps what it is handed, and no copy of another width.
    """
    size = _masks_waiting(block)
    rows = block.precision.residual * s * h
    if not block.rotary:
        size += b * rows + rows  # token rows and position rows, beside their sum
    elif block.served:
        size += b * rows  # a name of the model's, which no first layer keeps alive here
    elif block.norm == "layernorm":
        size += b * rows if block.dropout else ZERO
    elif block.recompute != "full" and not keeps_entry:
        size += b * rows
    return Value(name="waiting outside", size=size)


def _masks_waiting(block: Block) -> PolyElement:
    """Return the bytes of masks that no checkpoint keeps: Gemma 2 has two, whatever its layers."""
    full, one = block.recompute == "full", _mask(block)
    if not hf_norms.is_gemma2(block):
        return ZERO if full else one
    both: PolyElement = 2 * one
    return (ZERO if block.some_windows else one) if full else both


def _mask(block: Block) -> PolyElement:
    """Return the bytes of a mask that is added to the scores; none where attention is fused."""
    eager = block.attention == "eager"
    size: PolyElement = block.precision.residual * b * s**2 if eager else ZERO
    return size


def _drops_hidden(block: Block) -> bool:
    """Say whether the class drops elements of the hidden states too, not of the scores only."""
    return block.norm == "layernorm"


def _hidden_dropout(pen: Pen, x: Value) -> Value:
    return pen.dropout(x, tokens * h) if _drops_hidden(pen.block) else x


def _behind(pen: Pen, branch: Value) -> Value:
    """Write the norm between a branch and the residual stream, where the class has one."""
    if not pen.block.norm_outputs:
        return branch
    normed = _norm(pen, branch, name=f"{branch.name} behind its norm")
    pen.hold(branch)
    return normed


def _norm(pen: Pen, x: Value, *, name: str) -> Value:
    if pen.block.norm == "rmsnorm":
        return hf_norms.rms_norm(pen, x, h, name=name)
    return pen.norm(x, h, name=name, rows=tokens, size=x.size)


def _gaps(settings: Settings) -> Iterator[Fault]:
    yield from gaps.of_recipe(settings, {"recompute": ("none", "full")})
    yield from _other_classes(settings)
    if settings.recipe.loss != "eager":
        what = f"{settings.recipe.loss} with hf"
        yield gaps.no_lines("recipe.loss", what, "eager; or the fused stack")
    if settings.served and settings.architecture.norm_outputs:
        what = "a class of OLMo 2 or Gemma 2 in inference"
        yield gaps.no_lines("model", what, "the fused stack")
    yield from gaps.of_modules(settings)


def _other_classes(settings: Settings) -> Iterator[Fault]:
    model, ways = settings.model, f"modelled: {', '.join(modelled_types())}; or the fused stack"
    if model.model_type and model.model_type not in modelled_types():
        what = f"the class of {model.model_type} in Transformers is not modelled"
        yield Fault("model.config", what, ways)
        return
    other = not model.model_type and model.name.startswith(OTHER_CLASSES)
    if other or family_of(settings.architecture) is None:
        what = "no class of Transformers that is modelled has these blocks"
        yield Fault("model", what, ways)


STACK = Stack(
    layer=layer,
    embedding=embedding,
    head=head,
    shared=shared,
    shared_lasts=False,
    gaps=_gaps,
    evidence="traced",
    lines="engine.lines.hf:lines",
    builder="engine.verify.hf:build",
    library="Transformers",
    extra="hf",
    # Classes after Llama register their norms behind attention and MLP.
    norms_last=frozenset({"rmsnorm"}),
    one_sequence=True,
    serves=True,
)
