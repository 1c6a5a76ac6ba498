"""The tapes of the `fused` stack.

The modules are those of `engine.verify.reference`; a tape here and a module there tell the same
story, once in sizes and once in PyTorch.
"""

from collections.abc import Iterator

from sympy.polys.rings import PolyElement

from engine.errors import Fault
from engine.precisions import PRECISIONS
from engine.settings import Settings
from engine.stacks import experts, fused_latent, gaps, losses, parts
from engine.stacks.adapters import pen_of
from engine.stacks.block import Block
from engine.stacks.float8 import pen_of_layer
from engine.stacks.pen import Pen, a, d, h, k, kv, q, r, s, tokens
from engine.stacks.stack import Stack
from engine.symbols import RING, d_r, d_v
from engine.tape import ZERO, Tape, Value, without_gradients

HEADS_AGAIN = "attention needs q, k and v again"


def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    pen = pen_of_layer(block)
    x = parts.stream(pen, name="residual stream", differentiable=not block.bottom)
    normed = _norm(pen, x) if block.norm_inputs else x
    branch = _attention(pen, normed)
    pen.hold(normed)  # the call's arguments
    attended = pen.add(x, _behind(pen, branch), name="residual stream")
    entry = normed
    if not block.shared_norm:
        entry = x if block.parallel_residual else attended
        entry = _norm(pen, entry) if block.norm_inputs else entry
    write = _mixture if block.experts else parts.mlp
    out = pen.add(attended, _behind(pen, write(pen, entry)), name="next residual stream")
    tape = parts.checkpointed(pen, x, out, entry)
    return without_gradients(tape) if block.bottom else tape


def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    tape = parts.embedding(pen_of(block), dropout=block.dropout)
    return without_gradients(tape) if block.frozen else tape


def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    pen = pen_of(block)
    x = parts.stream(pen, name="last residual stream")
    normed = pen.norm(x, h, name=parts.FINAL_NORM, rows=tokens, size=x.size)
    return losses.WRITERS[block.loss](pen, normed)


def shared(block: Block) -> PolyElement:
    """Return the bytes of what all layers share: rotary tables, and the mask where eager."""
    width = RING(d_r) if block.latent else r
    size: PolyElement = 2 * block.precision.compute * s * width if block.rotary else ZERO
    return size + s**2 if block.attention == "eager" else size


def _norm(pen: Pen, x: Value) -> Value:
    return pen.norm(x, h, name="norm outputs", rows=tokens, size=pen.residual * tokens * h)


def _behind(pen: Pen, branch: Value) -> Value:
    """Write what stands between a branch and the residual stream: a norm, dropout."""
    if pen.block.norm_outputs:
        name = f"{branch.name} behind its norm"
        branch = pen.norm(branch, h, name=name, rows=tokens, size=branch.size)
    return pen.dropout(branch, tokens * h)


def _attention(pen: Pen, x: Value) -> Value:
    block = pen.block
    queries, keys, values = fused_latent.heads(pen, x) if block.latent else _heads(pen, x)
    if block.attention == "eager":
        before = queries, keys
        if not block.partly_rotary:
            queries, keys = parts.copy(pen, queries), parts.copy(pen, keys)
        values = parts.copy(pen, values)
        pen.hold(*before)
    out = _core(pen, queries, keys, values)
    if block.attention == "flash" and block.partly_rotary:
        # Heads put together of two parts lie one behind the other, and so does what flash makes
        # of them; the matrix wants tokens one behind the other.
        out = parts.copy(pen, out)
    result = pen.linear(
        out,
        (h, a * RING(d_v) if block.latent else q),
        name="attention result",
        bias=block.output_bias,
        why=pen.of_branch,
    )
    if block.frozen and block.attention == "eager":
        # The frame refers to the heads while their copy goes through the matrix.
        pen.hold(*(one for op in pen.operators if op.output is out for one in op.inputs))
    return result


def _heads(pen: Pen, x: Value) -> tuple[Value, Value, Value]:
    block = pen.block
    queries, keys, values = (
        pen.linear(x, (width, h), name=name, bias=block.qkv_bias, why=HEADS_AGAIN)
        for name, width in (("queries", q), ("keys", kv), ("values", kv))
    )
    # What stands left of an assignment is replaced when all of its right side is there.
    if block.qk_norm != "none":
        before = queries, keys
        queries, keys = _normed(pen, queries, a), _normed(pen, keys, k)
        pen.hold(*before)
    if block.rotary:
        before = queries, keys
        queries, keys = (parts.rotate(pen, one, joins=block.partly_rotary) for one in before)
        pen.hold(*before)
    return queries, keys, values


def _mixture(pen: Pen, x: Value) -> Value:
    """Write the experts that a token is sent to, then those that every token goes to."""
    routed = experts.mixture(pen, x)
    if not pen.block.shared_experts:
        return routed
    shared = parts.shared_experts(pen, x)
    out = Value(name="sum of routed and shared experts", size=routed.size, why=pen.of_branch)
    return pen.write(routed, shared, output=out, hands_on=True)


def _normed(pen: Pen, x: Value, heads: PolyElement) -> Value:
    """Write the norm of each head of queries or keys, or of all `heads` together."""
    whole = pen.block.qk_norm == "full"
    width, rows = (heads * d, tokens) if whole else (d, tokens * heads)
    return pen.norm(x, width, name=f"normed {x.name}", rows=rows, size=x.size)


def _core(pen: Pen, queries: Value, keys: Value, values: Value) -> Value:
    inner = pen_of(pen.block)
    # As wide as the values of all query heads, of which there may be fewer.
    size = values.size if pen.block.latent else queries.size
    scores = parts.flash if pen.block.attention == "flash" else _eager
    out = scores(inner, queries, keys, values, size=size)
    return parts.core(pen, inner, out, queries, keys, values)


def _eager(pen: Pen, queries: Value, keys: Value, values: Value, *, size: PolyElement) -> Value:
    square = tokens * a * s
    if pen.block.grouped:
        keys, values = (
            pen.write(
                x, output=Value(name=f"{x.name} for all heads", size=queries.size, why=x.why)
            )
            for x in (keys, values)
        )
    scores = Value(name="scores", size=pen.compute * square)
    pen.write(queries, keys, output=scores, keeps=(queries, keys))
    scores = pen.write(scores, output=Value(name="scaled scores", size=scores.size))
    if pen.block.soft_cap:
        scores = parts.soft_capped(pen, scores, name="scores")
    masked = scores = pen.write(scores, output=Value(name="masked scores", size=scores.size))
    if pen.residual != pen.compute:
        scores = pen.write(scores, output=Value(name="fp32 scores", size=pen.residual * square))
    weights = Value(
        name="attention probabilities",
        size=scores.size,
        why="softmax keeps its output: b·a·s² elements",
    )
    pen.write(scores, output=weights, keeps=(weights,))
    pen.hold(masked)
    weights = pen.dropout(weights, square, "the product with the values needs it again")
    if pen.residual != pen.compute:
        name = f"{weights.name} in 16 bits"
        weights = pen.write(
            weights, output=Value(name=name, size=pen.compute * square, why="input of the product")
        )
    product = Value(name="heads", size=size)
    pen.write(weights, values, output=product, keeps=(weights, values))
    out = Value(name="attention output", size=size, why="input of the output matrix")
    pen.write(product, output=out, hands_on=True)
    pen.hold(keys, values)
    return out


def _gaps(settings: Settings) -> Iterator[Fault]:
    if settings.recipe.loss == "chunked" and PRECISIONS[settings.recipe.precision].autocast:
        what = f"chunked with {settings.recipe.precision}"
        yield gaps.no_lines("recipe.loss", what, "eager, fused")
    yield from gaps.of_float8(settings)
    yield from gaps.of_modules(settings)


STACK = Stack(
    layer=layer,
    embedding=embedding,
    head=head,
    shared=shared,
    gaps=_gaps,
    evidence="traced",
    builder="engine.verify.reference:build",
    trains_adapters=True,
    saves_on_host=True,
    pages_cache=True,
    serves=True,
    no_float8="",
)
