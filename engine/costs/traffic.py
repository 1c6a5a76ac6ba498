"""What one rank sends to other GPUs: bytes and messages.

A ring all-reduce of S bytes over N ranks sends 2·S·(N−1)/N, an all-gather or a reduce-scatter half
of that. Source: arXiv 1910.02054 section 7, and NVIDIA/nccl-tests doc/PERFORMANCE.md.
"""

from dataclasses import dataclass, replace

from engine.costs.held import Held, ceil_div, expert_replicas, stream_tokens, tokens
from engine.precisions import PRECISIONS
from engine.settings import Settings
from engine.stages import Stage


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What a rank sends: bytes, and in how many messages or collectives."""

    size: int = 0
    messages: int = 0

    def __add__(self, other: "Sent") -> "Sent":
        return Sent(size=self.size + other.size, messages=self.messages + other.messages)

    def times(self, count: int) -> "Sent":
        """Return `count` of it."""
        return Sent(size=count * self.size, messages=count * self.messages)


NOTHING = Sent()


@dataclass(frozen=True, kw_only=True)
class Passing:
    """What is sent in one micro-batch.

    Attributes:
        backward: of the backward pass itself.
        recomputed: of what runs again before it.
    """

    forward: Sent = NOTHING
    backward: Sent = NOTHING
    recomputed: Sent = NOTHING

    @property
    def total(self) -> Sent:
        """All of it."""
        return self.forward + self.backward + self.recomputed


@dataclass(frozen=True, kw_only=True)
class Sharded:
    """What is sent by which parameters it is of: those all data ranks hold, and experts.

    `between` is what groups of ranks that each have a whole model send one another (HSDP).
    """

    shared: Sent = NOTHING
    experts: Sent = NOTHING
    between: Sent = NOTHING


def all_reduce(size: int, ranks: int) -> int:
    """Return the bytes that each of `ranks` sends to sum up `size` bytes."""
    return ceil_div(2 * size * (ranks - 1), ranks)


def half(size: int, ranks: int) -> int:
    """Return the bytes that each sends in an all-gather or reduce-scatter of `size` bytes."""
    return ceil_div(size * (ranks - 1), ranks)


def tensor(settings: Settings, stage: Stage) -> Passing:
    """Return the all-reduces of tensor parallelism in one micro-batch.

    Two forward and two backward in a layer, each of b·s·h elements, one each where attention and
    MLP add to the stream together; full recomputation repeats the two forward. The embedding has
    one forward, the head one backward. Under sequence parallelism each is a reduce-scatter and an
    all-gather: the same bytes. Source: arXiv 1909.08053 section 3, arXiv 2205.05198 section 4.2.2.
    """
    parallel, a = settings.parallel, settings.architecture
    size = all_reduce(tokens(settings) * a.hidden * _each(settings), parallel.tensor)
    one = Sent(size=size, messages=2 if parallel.sequence_parallel else 1)
    inner = stage.layers * (1 if a.parallel_residual else 2)
    return Passing(
        forward=one.times(inner + stage.first),
        backward=one.times(inner + stage.last),
        recomputed=one.times(inner if settings.recipe.recompute == "full" else 0),
    )


def gathered_again(settings: Settings, stage: Stage) -> Sent:
    """Return what sequence parallelism gathers once more in backward: inputs it kept in parts.

    Two all-gathers a layer in one micro-batch. Source: arXiv 2205.05198 section 4.2.2.
    """
    parallel = settings.parallel
    if not parallel.sequence_parallel:
        return NOTHING
    size = tokens(settings) * settings.architecture.hidden * _each(settings)
    return Sent(size=half(size, parallel.tensor), messages=1).times(2 * stage.layers)


def context(settings: Settings, stage: Stage) -> Passing:
    """Return what context ranks exchange in one micro-batch, so that queries meet all keys.

    "p2p", a ring: each rank's keys and values go round to the c−1 others, in backward once more
    together with their gradients. "a2a": queries, keys and values go to ranks that have all tokens
    of some heads, and the output comes back; in backward their gradients, the other way.
    Recomputed attention sends again what its forward sent.
    Source: arXiv 2310.01889 (Ring Attention) section 3; arXiv 2309.14509 (Ulysses) section 3.
    """
    parallel = settings.parallel
    queries, keys, values, out = _heads(settings)
    each, steps = tokens(settings) * _each(settings), parallel.context - 1
    if parallel.exchange == "a2a":
        size = half(each * (queries + keys + values + out), parallel.context)
        forward = backward = Sent(size=size, messages=2)
    else:
        once = steps * each * (keys + values)
        forward = Sent(size=once, messages=steps)
        backward = Sent(size=2 * once, messages=steps)
    again = settings.recipe.recompute != "none"
    return Passing(
        forward=forward.times(stage.layers),
        backward=backward.times(stage.layers),
        recomputed=forward.times(stage.layers * again),
    )


def experts(settings: Settings, stage: Stage) -> Passing:
    """Return the all-to-alls of expert parallelism in one micro-batch.

    Each token goes to K experts and comes back, b·s·K·h elements each way, of which (e−1)/e leave
    the rank; so do their gradients. Routing is taken as even. Source: arXiv 2006.16668 (GShard).
    """
    a, parallel = settings.architecture, settings.parallel
    if a.experts is None:
        return Passing()
    size = stream_tokens(settings) * a.experts.per_token * a.hidden * _each(settings)
    both = Sent(size=half(size, parallel.expert), messages=1).times(2 * stage.moe)
    again = settings.recipe.recompute == "full"
    return Passing(forward=both, backward=both, recomputed=both.times(again))


def pipeline(settings: Settings, stage: Stage) -> Passing:
    """Return what goes to the next stage, and the gradient that goes back, in one micro-batch."""
    size = stream_tokens(settings) * settings.architecture.hidden * _each(settings)
    one = Sent(size=size, messages=1)
    return Passing(forward=one.times(not stage.last), backward=one.times(not stage.first))


def reduced(settings: Settings, stage: Stage, weights: Held) -> Sharded:
    """Return what reducing the gradients of one step sends, a layer at a time.

    DDP all-reduces once a step, ZeRO-1 reduce-scatters once. ZeRO-2 and 3 keep no whole gradient,
    so they reduce-scatter every micro-batch's; groups that each shard a whole model all-reduce
    their shards then. Gradients go in the dtype they are added up in, in
    that of the weights under ZeRO-2, and in that of the shard under ZeRO-3.
    Source: arXiv 1910.02054 section 7; deepspeedai/DeepSpeed stage_1_and_2.py; PyTorch FSDP2.
    """
    zero, precision = settings.parallel.zero, PRECISIONS[settings.recipe.precision]
    each = {2: precision.weights, 3: precision.stepped}.get(zero, precision.gradients)
    count = settings.workload.gradient_accumulation if zero >= 2 else 1
    halves = 1 if zero else 2
    found = _sharded(settings, stage, weights, each * halves, count)
    parallel = settings.parallel
    shard = ceil_div(weights.shared * each, parallel.shards)
    between = all_reduce(shard, parallel.sharing // parallel.shards)
    return replace(found, between=Sent(size=between, messages=stage.layers).times(count))


def gathered(settings: Settings, stage: Stage, weights: Held) -> Sharded:
    """Return what gathering the weights of one step sends, a layer at a time.

    Nothing under DDP; once a step under ZeRO-1 and 2, when each rank has stepped its share; under
    ZeRO-3 twice in every micro-batch, for forward and for backward.
    """
    zero, precision = settings.parallel.zero, PRECISIONS[settings.recipe.precision]
    if not zero:
        return Sharded()
    count = 2 * settings.workload.gradient_accumulation if zero == 3 else 1
    return _sharded(settings, stage, weights, precision.weights, count)


def _heads(settings: Settings) -> tuple[int, int, int, int]:
    """Return the widths of a token's queries, keys, values and attention output on one rank."""
    a, t = settings.architecture, settings.parallel.tensor
    heads, groups = ceil_div(a.heads, t), ceil_div(a.kv_heads, t)
    if a.latent is None:
        query, key = heads * a.head_dim, groups * a.head_dim
        return query, key, key, query
    one = a.latent.nope_head_dim + a.latent.rope_head_dim
    out = heads * a.latent.value_head_dim
    return heads * one, heads * one, out, out


def _sharded(settings: Settings, stage: Stage, weights: Held, each: int, count: int) -> Sharded:
    shared = half(weights.shared * each, settings.parallel.shards)
    experts = half(weights.experts * each, expert_replicas(settings))
    return Sharded(
        shared=Sent(size=shared, messages=stage.layers).times(count),
        experts=Sent(size=experts, messages=stage.moe).times(count),
    )


def _each(settings: Settings) -> int:
    return PRECISIONS[settings.recipe.precision].compute
