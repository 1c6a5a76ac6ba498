"""Norms and dropout of the reference transformer: what each keeps is what a GPU's kernel keeps."""

import torch
from torch import Tensor, nn

from engine.architecture import Architecture
from engine.verify.kernels import layer_norm, rms_norm


class RmsNorm(nn.Module):
    """RMSNorm that keeps its input and one fp32 number a row."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last dimension of `x`."""
        normed: Tensor = rms_norm(x, self.weight, 1e-5)[0]
        return normed


class LayerNorm(nn.Module):
    """LayerNorm that keeps its input and two fp32 numbers a row."""

    def __init__(self, width: int, *, affine: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width)) if affine else None
        self.bias = nn.Parameter(torch.empty(width)) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last dimension of `x`."""
        normed: Tensor = layer_norm(x, self.weight, self.bias, 1e-5)[0]
        return normed


def norm(architecture: Architecture, width: int) -> nn.Module:
    """Return the norm that `architecture` puts over `width` elements."""
    if architecture.norm == "rmsnorm":
        return RmsNorm(width)
    return LayerNorm(width, affine=architecture.norm == "layernorm")


class Dropout(nn.Module):
    """Dropout that keeps a one-byte mask; nothing at all where the probability is 0."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of `x`."""
        if not self.probability:
            return x
        dropped: Tensor = torch.ops.aten.native_dropout(x, self.probability, True)[0]  # noqa: FBT003 - the operator takes it by position only
        return dropped
