"""Which weights and tokens a rank of a pipeline stage holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.adapters import trained
from engine.architecture import Tensor
from engine.settings import Settings
from engine.stages import Stage

# Small projections that every tensor-parallel rank has whole. Source: NVIDIA/Megatron-LM
# megatron/core/transformer/multi_latent_attention.py and moe/router.py.
WHOLE = frozenset({"query down", "key-value down", "router"})


@dataclass(frozen=True, kw_only=True)
class Held:
    """Parameters of one rank before ZeRO shards them.

    Attributes:
        shared: those that all of data x context hold.
        experts: those of its experts, which ranks at the same place of other expert groups hold.
        matrices: those in matrix products, experts too; a tied head counts with the embedding.
        frozen: whether the others are those of adapters, which alone are trained.
    """

    shared: int
    experts: int
    matrices: int
    frozen: bool = False

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.shared + self.experts

    def owned(self, settings: Settings) -> int:
        """Return the parameters that the rank's optimizer steps: its ZeRO share."""
        if not settings.parallel.zero:
            return self.parameters
        ranks, groups = settings.parallel.shards, expert_replicas(settings)
        return ceil_div(self.shared, ranks) + ceil_div(self.experts, groups)


def held(settings: Settings, stage: Stage) -> Held:
    """Return what a rank of `stage` holds."""
    shared = experts = matrices = 0
    for tensor, copies in _tensors(settings, stage):
        size = copies * part(settings, tensor)
        if tensor.routed:
            experts += size
        else:
            shared += size
        if tensor.matmul and tensor.columns > 1:
            matrices += size
    if settings.adapters.rank:
        own = trained(settings.architecture.tensors, settings.adapters)
        size = sum(t.copies * t.size for t in own)
        return Held(shared=size, experts=0, matrices=matrices, frozen=True)
    return Held(shared=shared, experts=experts, matrices=matrices)


def matrices(settings: Settings, stage: Stage) -> Iterator[tuple[Tensor, int]]:
    """Yield the matrices of the stage's layers, and how many of them it has."""
    for tensor, copies in _tensors(settings, stage):
        if tensor.matmul and tensor.columns > 1 and "layer" in tensor.place:
            yield tensor, copies


def _tensors(settings: Settings, stage: Stage) -> Iterator[tuple[Tensor, int]]:
    a = settings.architecture
    for tensor in a.tensors:
        if tensor.place == "embedding":
            # The last stage has a tied embedding once more, to be its head.
            copies = int(stage.first or (stage.last and tensor.matmul))
        elif tensor.place in {"final", "head"}:
            copies = int(stage.last)
        elif tensor.place == "layer":
            copies = stage.layers * tensor.copies // a.layers
        else:
            copies = stage.dense if tensor.place == "dense-layer" else stage.moe
        if copies:
            yield tensor, copies


def part(settings: Settings, tensor: Tensor) -> int:
    """Return the elements of `tensor` that one rank holds, under tensor and expert parallelism."""
    a, t = settings.architecture, settings.parallel.tensor
    if tensor.columns == 1 or tensor.name in WHOLE:
        return tensor.size
    if tensor.name in {"key", "value"}:
        return ceil_div(a.kv_heads, t) * a.head_dim * tensor.columns
    if tensor.routed:
        mine = ceil_div(tensor.rows, settings.parallel.expert)
        return mine * ceil_div(tensor.columns, t)
    return ceil_div(tensor.size, t)


def expert_replicas(settings: Settings) -> int:
    """Return how many ranks hold the same experts."""
    return max(1, settings.parallel.sharing // settings.parallel.expert)


def tokens(settings: Settings) -> int:
    """Return the tokens of one micro-batch on one rank: the sequence is cut over context ranks."""
    work = settings.workload
    return work.micro_batch * ceil_div(work.sequence, settings.parallel.context)


def stream_tokens(settings: Settings) -> int:
    """Return the tokens whose residual stream a rank holds: fewer under sequence parallelism."""
    parallel = settings.parallel
    split = parallel.tensor if parallel.sequence_parallel else 1
    return ceil_div(tokens(settings), split)


def ceil_div(amount: int, parts: int) -> int:
    """Return `amount` / `parts`, rounded up."""
    return -(-amount // parts)
