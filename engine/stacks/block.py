"""The switches, apart from sizes, that decide which operators a layer runs."""

from dataclasses import dataclass

from engine.architecture import Activation, Norm, QkNorm
from engine.precisions import Precision


@dataclass(frozen=True, kw_only=True)
class Block:
    """The switches, apart from sizes, that decide which operators run."""

    stack: str
    norm: Norm
    activation: Activation
    gated: bool
    experts: bool
    rotary: bool
    partly_rotary: bool
    grouped: bool
    norm_inputs: bool
    norm_outputs: bool
    qk_norm: QkNorm
    parallel_residual: bool
    shared_norm: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    head_bias: bool
    tied: bool
    precision: Precision
    attention: str
    recompute: str
    loss: str
    dropout: bool
    one_sequence: bool
    sequence_parallel: bool = False
    exchange: str = "none"
    soft_cap: bool = False
    some_windows: bool = False
    latent: bool = False
    latent_queries: bool = False
    shared_experts: bool = False
    experts_elsewhere: bool = False
    expert_ranks: bool = False
    local_experts: bool = False
    adapted: frozenset[str] = frozenset()
    adapter_dropout: bool = False
    four_bit: bool = False
    bottom: bool = False
    served: bool = False

    @property
    def frozen(self) -> bool:
        """Whether adapters alone are trained."""
        return bool(self.adapted)
