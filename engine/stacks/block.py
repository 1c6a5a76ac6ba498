"""The switches, apart from sizes, that decide which operators a layer runs."""

from dataclasses import dataclass

from engine.architecture import Activation, Norm
from engine.recipe import Precision


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
    head_norms: bool
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
    dropout: bool
    one_sequence: bool
