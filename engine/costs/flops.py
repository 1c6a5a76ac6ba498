"""FLOPs of one micro-batch on one rank, counted product by product.

A product of an (m, k) and a (k, n) matrix is 2·m·k·n FLOPs. Biases, norms, softmax and activations
are not FLOPs here: they wait for memory, and `engine.costs.passes` counts them.
Source: arXiv 2205.05198 appendix A: 24·b·s·h² + 4·b·s²·h a layer of a GPT, 2·b·s·h·V its head.
"""

from dataclasses import dataclass

from engine.costs.held import WHOLE, ceil_div, held, matrices, part, tokens
from engine.settings import Settings
from engine.stages import Stage

# Those before them, whose input gradient tensor-parallel ranks add up, are column-parallel.
ROW_PARALLEL = ("attention output", "MLP down", "shared expert down")


@dataclass(frozen=True, kw_only=True)
class Flops:
    """FLOPs of one pass through a stage.

    Attributes:
        linear: linear layers, the router and shared experts too.
        experts: routed experts, each token in `per_token` of them.
        attention: scores and the weighted sum of values.
        head: the product with the vocabulary.
    """

    linear: int
    experts: int
    attention: int
    head: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.linear + self.experts + self.attention + self.head


@dataclass(frozen=True, kw_only=True)
class MicroBatch:
    """FLOPs of one micro-batch.

    Attributes:
        recomputed: what runs a second time in the backward pass.
        column: forward FLOPs of the column-parallel matrices; their weight gradients take as many.
    """

    forward: Flops
    backward: Flops
    recomputed: Flops
    column: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.forward.total + self.backward.total + self.recomputed.total


def micro_batch(settings: Settings, stage: Stage) -> MicroBatch:
    """Return the FLOPs of one micro-batch on a rank of `stage`.

    A linear layer's backward makes the gradients of its input and of its weight: twice its
    forward. Full recomputation runs all layers forward once more, but not the head; selective
    recomputation only their attention, 4·b·s²·h a layer of a GPT. (The formula (8) that arXiv
    2205.05198 prints for it has s/3h where its text gives s/6h + s/18h = 2s/9h.) A frozen weight
    has no gradient, so its backward is as much as its forward; adapters come on top.
    """
    linear, experts, column = _layers(settings, stage)
    attention, attention_backward = _attention(settings, stage)
    head = _head(settings, stage)
    again = settings.recipe.recompute
    full = again == "full"
    frozen = settings.adapters.rank > 0
    adapters = 2 * tokens(settings) * held(settings, stage).shared if frozen else 0
    gradients = 1 if frozen else 2
    return MicroBatch(
        forward=Flops(linear=linear + adapters, experts=experts, attention=attention, head=head),
        backward=Flops(
            linear=gradients * linear + 2 * adapters,
            experts=2 * experts,
            attention=attention_backward,
            head=gradients * head,
        ),
        recomputed=Flops(
            linear=(linear + adapters) * full,
            experts=experts * full,
            attention=attention * (again != "none"),
            head=0,
        ),
        column=column,
    )


def _layers(settings: Settings, stage: Stage) -> tuple[int, int, int]:
    """Return forward FLOPs of linear layers, experts, and the column-parallel of the former."""
    parallel, each = settings.parallel, tokens(settings)
    linear = experts = column = 0
    for tensor, copies in matrices(settings, stage):
        if tensor.routed and settings.architecture.experts is not None:
            per_token = settings.architecture.experts.per_token
            used = ceil_div(tensor.columns, parallel.tensor)
            experts += 2 * each * per_token * copies * used
            continue
        size = part(settings, tensor)
        if tensor.name in WHOLE and parallel.sequence_parallel:
            size = ceil_div(size, parallel.tensor)  # each rank takes its part of the tokens
        linear += 2 * each * copies * size
        if tensor.name not in ROW_PARALLEL and tensor.name not in WHOLE:
            column += 2 * each * copies * size
    return linear, experts, column


def _attention(settings: Settings, stage: Stage) -> tuple[int, int]:
    """Return forward and backward FLOPs of scores and weighted sum.

    Two products forward; four backward, and a fifth in flash attention, which makes the scores
    again. Source: arXiv 2307.08691 section 4.1, backward 2.5 times the forward.
    """
    a = settings.architecture
    heads = ceil_div(a.heads, settings.parallel.tensor)
    query = value = a.head_dim
    if a.latent is not None:
        query = a.latent.nope_head_dim + a.latent.rope_head_dim
        value = a.latent.value_head_dim
    product = 2 * heads * _pairs(settings, stage)
    scores = 3 if settings.recipe.attention == "flash" else 2
    return product * (query + value), product * (scores * query + 2 * value)


def _pairs(settings: Settings, stage: Stage) -> int:
    """Return pairs of a query and a key, over the stage's layers and one rank's sequences.

    Flash attention skips what the causal mask hides, half of the square: s·(s+1)/2 pairs, or
    Σ min(i, w) in a layer with a window. Eager attention makes all s². Context ranks take equal
    parts.
    """
    a, s = settings.architecture, settings.workload.sequence
    windowed = stage.layers * (a.window_layers or a.layers) // a.layers if a.window else 0
    if settings.recipe.attention == "flash":
        window = min(a.window, s)
        near = window * s - window * (window - 1) // 2
        pairs = windowed * near + (stage.layers - windowed) * (s * (s + 1) // 2)
    else:
        pairs = stage.layers * s * s
    return ceil_div(settings.workload.micro_batch * pairs, settings.parallel.context)


def _head(settings: Settings, stage: Stage) -> int:
    a = settings.architecture
    rows = ceil_div(a.vocab, settings.parallel.tensor)
    return 2 * tokens(settings) * a.hidden * rows if stage.last else 0
