"""What one rank has of a model: its part of every tensor."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from engine.architecture import Architecture, Experts, Tensor
from engine.settings import Parallel, Settings
from engine.stages import Stage

# Megatron-LM pads the vocabulary to a multiple of this on every tensor rank
# (--make-vocab-size-divisible-by).
VOCAB_MULTIPLE = 128


@dataclass(frozen=True, kw_only=True)
class Part:
    """The tensors of one rank, the fullest of its stage.

    Attributes:
        architecture: with the layers, heads, widths and vocabulary rows that the rank has.
        experts_held: routed experts of a layer that are on the rank, 0 where it has none.
        first: whether it has the embedding.
        last: whether it has final norm and head.
    """

    architecture: Architecture
    experts_held: int
    first: bool = True
    last: bool = True

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every parameter tensor that the rank has a part of, cut to that part."""
        return tuple(self._held(t) for t in self.architecture.tensors if self._has(t))

    def _has(self, tensor: Tensor) -> bool:
        if tensor.place == "embedding":
            # A tied head is a copy of its own on the last stage.
            return self.first or (self.architecture.tied and self.last and tensor.matmul)
        return self.last or tensor.place not in {"final", "head"}

    def _held(self, tensor: Tensor) -> Tensor:
        if tensor.routed:
            return replace(tensor, rows=self.experts_held)
        return tensor


def part_of(settings: Settings, stage: Stage) -> Part:
    """Return what one rank of `stage` has."""
    return _part(settings.architecture, settings.parallel, stage)


@lru_cache(maxsize=4096)
def _part(a: Architecture, parallel: Parallel, stage: Stage) -> Part:
    tensor = parallel.tensor
    held = a.experts.routed // parallel.expert if a.experts else 0
    if tensor == parallel.pipeline == 1:
        return Part(architecture=a, experts_held=held)
    local = replace(
        a,
        layers=stage.layers,
        heads=a.heads // tensor,
        kv_heads=max(1, a.kv_heads // tensor),
        ffn=a.ffn // tensor,
        vocab=_vocabulary(a.vocab, tensor),
        window_layers=min(a.window_layers, stage.layers),
        experts=_experts(a.experts, tensor, stage) if a.experts else None,
    )
    return Part(architecture=local, experts_held=held, first=stage.first, last=stage.last)


def _vocabulary(rows: int, tensor: int) -> int:
    """Return the rows of a tensor rank; one rank alone pads nothing."""
    if tensor == 1:
        return rows
    multiple = VOCAB_MULTIPLE * tensor
    return -(-rows // multiple) * VOCAB_MULTIPLE


def _experts(experts: Experts, tensor: int, stage: Stage) -> Experts:
    return replace(
        experts,
        ffn=experts.ffn // tensor,
        shared_ffn=experts.shared_ffn // tensor,
        dense_layers=stage.dense,
    )
