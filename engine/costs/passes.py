"""Bytes that pass through a rank's memory outside its matrix products, in one micro-batch.

An operator reads its inputs and writes its output once; backward it reads the gradient and what it
kept, and writes the gradient of its input. Counted in elements a token, times their bytes. Two
styles: one kernel for each operator, as PyTorch runs modules, and fused kernels, where a stack has
`fused_kernels`. Operands of matrix products are in `operands`: they hide behind the product.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.adapters import four_bit
from engine.costs.held import Held, ceil_div, stream_tokens, tokens
from engine.optimizers import costed
from engine.precisions import FLOAT8, PRECISIONS, Precision
from engine.settings import Settings
from engine.stacks.registry import stack
from engine.stages import Stage

# Elements that a soft cap reads and writes: divided 2, tanh 2, multiplied 2; backward, tanh reads
# what it returned too.
CAPPED = (6, 7)


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Bytes read and written in one micro-batch.

    Attributes:
        operators: how many operators move them forward, and as many backward.
        repeated: how many of them run again in backward.
    """

    forward: int
    backward: int
    recomputed: int
    operators: int = 0
    repeated: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.forward + self.backward + self.recomputed


@dataclass(frozen=True, kw_only=True)
class Pass:
    """Bytes of operators, forward and backward; `core`: selective recomputation repeats it.

    `operators` is how many modules there are forward, and as many backward: one norm is one,
    of however many kernels.
    """

    forward: int
    backward: int
    core: bool = False
    operators: int = 1


def layers(settings: Settings, stage: Stage) -> Moved:
    """Return what the operators of the stage's layers move."""
    found = [(one, stage.layers) for one in (*_stream(settings), *_attention(settings))]
    found += [(one, stage.dense) for one in _mlp(settings)]
    found += [(one, stage.moe) for one in _experts(settings)]
    again = settings.recipe.recompute
    repeated = [
        (one, copies)
        for one, copies in found
        if again == "full" or (again == "selective" and one.core)
    ]
    return Moved(
        forward=sum(copies * one.forward for one, copies in found),
        backward=sum(copies * one.backward for one, copies in found),
        recomputed=sum(copies * one.forward for one, copies in repeated),
        operators=sum(copies * one.operators for one, copies in found),
        repeated=sum(copies * one.operators for one, copies in repeated),
    )


def loss(settings: Settings, stage: Stage) -> Moved:
    """Return what final norm and loss move: the logits several times, in 4 bytes unless fused.

    Forward, a cast and the log-softmax; backward, the gradients of both. Fused cross entropy reads
    the logits twice and writes their gradient over them, and caps them as it reads them.
    """
    if not stage.last:
        return Moved(forward=0, backward=0, recomputed=0)
    precision = _precision(settings)
    each = precision.compute
    logits = tokens(settings) * ceil_div(settings.architecture.vocab, settings.parallel.tensor)
    norm = stream_tokens(settings) * settings.architecture.hidden * precision.residual
    cast = each + 4 if each < 4 else 0
    forward, backward = cast + 4 + 4, 4 + 4 + 4 + cast
    if settings.architecture.soft_cap:
        forward, backward = forward + CAPPED[0] * each, backward + CAPPED[1] * each
    if settings.recipe.loss == "fused":
        forward, backward = 3 * each, 0
    return Moved(
        forward=2 * norm + forward * logits,
        backward=3 * norm + backward * logits,
        recomputed=0,
    )


def operands(settings: Settings, weights: Held) -> int:
    """Return bytes of weights read and weight gradients written by products of a micro-batch."""
    precision = _precision(settings)
    reads = 3 if settings.recipe.recompute == "full" else 2
    read = weights.matrices * precision.compute
    if precision.float8:
        head = settings.architecture.vocab * settings.architecture.hidden
        read -= (weights.matrices - head) * (precision.compute - FLOAT8)
    made = weights.parameters if weights.frozen else weights.matrices
    return reads * read + made * precision.gradients


def casts(settings: Settings, weights: Held) -> int:
    """Return bytes that autocast moves to cast the matrices in each micro-batch."""
    precision = _precision(settings)
    return weights.matrices * (precision.weights + precision.casts) if precision.casts else 0


def made_whole(settings: Settings) -> int:
    """Return bytes that making 16-bit matrices of 4-bit ones moves: anew for each product."""
    elements = four_bit(settings.architecture.tensors, settings.adapters).elements
    products = 3 if settings.recipe.recompute == "full" else 2
    return products * (elements // 2 + _precision(settings).compute * elements)


def added_gradients(settings: Settings, weights: Held) -> int:
    """Return bytes that adding a further micro-batch's gradients to the earlier moves.

    None where the product itself adds to the gradient, as Megatron's does, or the host does.
    """
    fused = stack(settings.implementation).fused_accumulation
    if fused or settings.offload.parameters != "none":
        return 0
    precision = _precision(settings)
    kept = weights.parameters if settings.parallel.zero < 2 else weights.owned(settings)
    return kept * (precision.weights + 2 * precision.gradients)


def optimizer_step(settings: Settings, weights: Held) -> int:
    """Return bytes that the optimizer's step moves on the GPU."""
    precision, row = _precision(settings), costed(settings.recipe.optimizer)
    cast = precision.weights if precision.master else 0
    stepped = weights.owned(settings) * (row.passes * precision.stepped + row.beside + cast)
    return stepped + _average(settings, weights)


def _average(settings: Settings, weights: Held) -> int:
    """Return bytes that an average of the weights moves: read and written, and they are read."""
    precision, ema = _precision(settings), settings.recipe.ema
    sharded = settings.parallel.zero == 3
    if ema == "none":
        return 0
    read = precision.stepped if sharded else precision.weights
    kept = 4 if ema == "fp32" else read
    return (weights.owned(settings) if sharded else weights.parameters) * (2 * kept + read)


def _precision(settings: Settings) -> Precision:
    return PRECISIONS[settings.recipe.precision]


def _fused(settings: Settings) -> bool:
    return stack(settings.implementation).fused_kernels


def _stream(settings: Settings) -> Iterator[Pass]:
    """Yield norms, residual adds and their dropout: sequence parallelism splits these."""
    a, precision = settings.architecture, _precision(settings)
    elements = stream_tokens(settings) * a.hidden
    norms = a.norm_inputs * (1 if a.shared_norm else 2) + 2 * a.norm_outputs
    wide = elements * precision.residual
    yield Pass(forward=2 * norms * wide, backward=3 * norms * wide, operators=norms)
    yield Pass(forward=2 * 3 * wide, backward=2 * 3 * wide, operators=2)
    if settings.recipe.dropout:
        # The mask is a byte an element; fused with the add, dropout itself moves no more.
        more = 0 if _fused(settings) else 2 * precision.compute
        yield Pass(
            forward=2 * elements * (more + 1), backward=2 * elements * (more + 1), operators=0
        )


def _attention(settings: Settings) -> Iterator[Pass]:
    a, each, t = settings.architecture, _precision(settings).compute, settings.parallel.tensor
    queries, keys = a.query_width, a.kv_width
    if a.latent is not None:
        one = a.latent.nope_head_dim + a.latent.rope_head_dim
        queries = keys = a.heads * one
    q, kv = (tokens(settings) * ceil_div(width, t) * each for width in (queries, keys))
    if a.qk_norm != "none":
        yield Pass(forward=2 * (q + kv), backward=3 * (q + kv), operators=2)
    if not a.positions:
        kernels = 2 if _fused(settings) else 9  # two products, a half turned, a sum
        yield Pass(forward=kernels * (q + kv), backward=kernels * (q + kv))
    if settings.recipe.attention == "flash":
        yield Pass(forward=2 * (q + kv), backward=4 * (q + kv), core=True)
    else:
        yield _eager(settings)


def _eager(settings: Settings) -> Pass:
    """Return what the b·a·s² scores move, written and read by the products themselves too.

    Kernel by kernel, forward: written 1, scaled 2, masked 2, softmax 2, read 1; backward: read 1,
    gradient written 1, softmax 3, scaled 2, read 2. Fused, scaling, mask and softmax are one. A
    soft cap is three kernels more.
    """
    a, parallel = settings.architecture, settings.parallel
    each = _precision(settings).compute
    square = tokens(settings) * settings.workload.sequence * ceil_div(a.heads, parallel.tensor)
    forward, backward = (4, 7) if _fused(settings) else (8, 9)
    if a.soft_cap:
        forward, backward = forward + CAPPED[0], backward + CAPPED[1]
    dropout = (2 * each + 1) if settings.recipe.dropout else 0
    return Pass(
        forward=square * (forward * each + dropout),
        backward=square * (backward * each + dropout),
        core=True,
    )


def _mlp(settings: Settings, width: int = 0) -> Iterator[Pass]:
    """Yield the activation; kernel by kernel a gated one is silu 2 and product 3, backward 9."""
    a, each = settings.architecture, _precision(settings).compute
    wide = tokens(settings) * ceil_div(width or a.ffn, settings.parallel.tensor) * each
    forward, backward = 2, 3
    if a.gated:
        forward, backward = (3, 5) if _fused(settings) else (5, 9)
    yield Pass(forward=forward * wide, backward=backward * wide)


def _experts(settings: Settings) -> Iterator[Pass]:
    """Yield the experts' activations, and tokens copied to them and back, K of each."""
    a, each = settings.architecture, _precision(settings).compute
    if a.experts is None:
        return
    yield from _mlp(settings, a.experts.per_token * a.experts.ffn)
    if a.experts.shared_ffn:
        yield from _mlp(settings, a.experts.shared_ffn)
    copied = stream_tokens(settings) * a.experts.per_token * a.hidden * each
    yield Pass(forward=4 * copied, backward=4 * copied, operators=2)
