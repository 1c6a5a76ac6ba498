"""The tapes of the `hf` stack: the classes of Hugging Face Transformers.

Read from Transformers 5.24, models/{llama,mistral,qwen2,mixtral,gpt2,gpt_neox}/modeling_*.py, and
traced operator by operator. RMSNorm, the masks of eager attention and GPT-2's GELU are plain
operators there, and each keeps what its own backward needs.
"""

from collections.abc import Iterator
from dataclasses import replace

from sympy.polys.rings import PolyElement

from engine.errors import Fault
from engine.families.registry import family_of, modelled_types
from engine.settings import Settings
from engine.stacks import gaps, hf_attention, hf_mlp, parts
from engine.stacks.block import Block
from engine.stacks.pen import Pen, b, h, r, s, tokens
from engine.stacks.stack import Stack
from engine.tape import ZERO, Operator, Tape, Value

# Catalogued models of Llama's shape, whose classes in Transformers run other operators.
OTHER_CLASSES = ("gemma", "phi-3")


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = Pen(block)
    x = parts.stream(pen, name="residual stream")
    waiting = _waiting(block)
    normed = _norm(pen, x, name="norm outputs")
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
        attended = pen.add(x, branch, name="residual stream")
        entry = _norm(pen, attended, name="norm outputs")
        branch = _hidden_dropout(pen, hf_mlp.mlp(pen, entry))
        out = pen.add(attended, branch, name="next residual stream")
        if not block.rotary:
            weights = (*weights, attention, entry)  # names of GPT-2's
    pen.hold(*weights)
    return parts.checkpointed(pen, x, out, beside=(waiting,))


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    return parts.embedding(Pen(block), dropout=block.dropout and _drops_hidden(block))


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
    size: PolyElement = 2 * block.precision.residual * s * r if block.rotary else ZERO
    # The mask is let go behind the last layer, unless checkpoints keep it for another time.
    return size + _mask(block).size if block.recompute == "full" else size


def _waiting(block: Block) -> Value:
    """Return what the model's frame refers to while a layer runs, beyond what layers keep."""
    size = ZERO if block.recompute == "full" else _mask(block).size
    rows = block.precision.residual * s * h
    if not block.rotary:
        size += b * rows + rows  # token rows and position rows, beside their sum
    elif block.served:
        size += b * rows  # a name of the model's, which no first layer keeps alive here
    elif block.norm == "layernorm":
        size += b * rows if block.dropout else ZERO
    elif block.recompute != "full" and block.precision.residual != 4:
        size += b * rows  # the first layer's norm keeps an fp32 copy of them
    return Value(name="waiting outside", size=size)


def _mask(block: Block) -> Value:
    """Return the mask that is added to the scores; nothing where attention is fused."""
    eager = block.attention == "eager"
    return Value(name="mask", size=block.precision.residual * b * s**2 if eager else ZERO)


def _drops_hidden(block: Block) -> bool:
    """Say whether the class drops elements of the hidden states too, not of the scores only."""
    return block.norm == "layernorm"


def _hidden_dropout(pen: Pen, x: Value) -> Value:
    return pen.dropout(x, tokens * h) if _drops_hidden(pen.block) else x


def _norm(pen: Pen, x: Value, *, name: str) -> Value:
    if pen.block.norm == "rmsnorm":
        return _rms_norm(pen, x, name=name)
    return pen.norm(x, h, name=name, rows=tokens, size=x.size)


def _rms_norm(pen: Pen, x: Value, *, name: str) -> Value:
    size = 4 * tokens * h
    why = "Transformers' RMSNorm computes in fp32, one operator after another"
    wide = x
    if x.size != size:
        wide = pen.write(x, output=Value(name="fp32 norm inputs", size=size, why=why))
    squares = Value(name="squares", size=size)
    pen.write(wide, output=squares, keeps=(wide,), backward_workspace=2 * size)
    scale = Value(name="norm statistics", size=4 * tokens, why="1 / rms of each row, in fp32")
    pen.write(squares, output=scale)
    normed = Value(name="normed", size=size, why=why)
    pen.write(wide, scale, output=normed, keeps=(wide, scale), backward_workspace=size)
    if x.size != size:
        narrow = Value(
            name="normed in 16 bits", size=x.size, why="the norm's weight multiplies it"
        )
        normed = pen.write(normed, output=narrow)
    out = Value(name=name, size=x.size, why="input of the matrices behind the norm")
    return pen.write(
        normed,
        output=out,
        keeps=(normed,),
        gradients=pen.gradient * h,
        backward_workspace=x.size,
    )


def _gaps(settings: Settings) -> Iterator[Fault]:
    yield from gaps.of_recipe(settings, {"recompute": ("none", "full")})
    yield from _other_classes(settings)
    if settings.recipe.loss != "eager":
        what = f"{settings.recipe.loss} with hf"
        yield gaps.no_lines("recipe.loss", what, "eager; or the fused stack")
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
    builder="engine.verify.hf:build",
    library="Transformers",
    extra="hf",
    # Classes after Llama register their norms behind attention and MLP.
    norms_last=frozenset({"rmsnorm"}),
    one_sequence=True,
    serves=True,
)
